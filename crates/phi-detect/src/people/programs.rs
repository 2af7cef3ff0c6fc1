//! AssistantNames with names of people: the assistant that a prompt speaks to, a model, a maker.
//!
//! Any name may be that of a program, so the text itself has to say that it is a program: it introduces it ("You are
//! Vela, an AI assistant"), a version or the name of a product follows ("Claude Code"), or, for a few famous
//! programs, the words around are only about software.

use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::particulars::follows_title;
use crate::budget::List;
use crate::bytes64;
use crate::candidate::Candidate;
use crate::kinds::PhiKind;
use crate::labels::Meaning;
use crate::lexicon::{self, LEXICON, Sense};
use crate::page::{Page, is_word_byte};
use crate::word_list::WordList;

/// Famous assistants and models, some of which have given names.
static KNOWN: WordList = WordList::new(
    "aider alexa bard claude cline codex cody copilot cortana devin ernie gemini gemma grok jules \
     junie kiro llama mistral qwen siri",
);

/// Makers of programs.
static MAKERS: WordList = WordList::new("anthropic google meta microsoft openai");

/// Words behind the name of a program that are part of the product's name.
static FAMILY: WordList = WordList::new(
    "Agent AI API App Apps CLI Chat Cloud Code Console Desktop Developer Docs Enterprise Flash \
     Haiku Instant Mini Models Nano Opus Platform Plugin Pro SDK Sonnet Studio Team Turbo Ultra \
     Workspace",
);

/// Nouns that introduce a program.
static PROGRAMS: WordList = WordList::new(
    "AI agent agentic assistant bot browser chatbot CLI copilot editor IDE LLM model product \
     programmer software tool",
);

/// Words around a program: one of these, or several of the next list.
static SIGNS: WordList = WordList::new(
    "agent agents AI anthropic API chatbot CLI codebase JSON LLM LLMs MCP model models openai \
     prompt prompts repository SDK tokens tool tools",
);
static WEAK_SIGNS: WordList = WordList::new(
    "app browser code commit cutoff docs file files image images response responses results \
     search searches URL user users web",
);
const WEAK_SIGNS_MIN: usize = 3;

/// Reach of an introduction, and distance around a name in which signs of software are searched.
const INTRODUCTION_BYTES_MAX: usize = 110;
const SIGN_REACH_BYTES: usize = 120;

/// Phrases before the name of a program, and whether the program's description precedes the phrase rather than
/// follows the name.
static INTRODUCTIONS: LazyLock<[(Finder<'static>, bool); 5]> = LazyLock::new(|| {
    [
        ("ou are ", false),
        ("ou're ", false),
        ("our name is ", false),
        (" called ", true),
        (" named ", true),
    ]
    .map(|(phrase, is_before)| (Finder::new(phrase), is_before))
});

/// The programs of a text.
pub(crate) struct AssistantNames {
    /// Hashes of the words by which the text calls programs that it introduces, or whose versions it names, in order.
    introduced: List<u64>,
}

impl AssistantNames {
    /// Finds the programs of a text that has candidates for names.
    pub(crate) fn of(page: &Page<'_>, candidates: &[Candidate]) -> Self {
        let has_names = candidates.iter().any(|one| one.kind == PhiKind::NAME);
        let mut programs = AssistantNames {
            introduced: if has_names {
                introduced(page)
            } else {
                page.memory().list()
            },
        };
        programs.forget_namesakes(page, candidates);
        programs
    }

    /// Leaves out programs with the name of a person.
    pub(crate) fn leave_out(&self, page: &Page<'_>, candidates: &mut List<Candidate>) {
        self.leave_out_from(0, page, candidates);
    }

    /// Leaves out programs among the candidates from `first` on.
    pub(crate) fn leave_out_from(
        &self,
        first: usize,
        page: &Page<'_>,
        candidates: &mut List<Candidate>,
    ) {
        let is_program =
            |one: &mut Candidate| one.kind == PhiKind::NAME && self.is_program(page, &one.span);
        candidates.extract_if(first, is_program);
    }

    /// Forgets the programs that share their name with a person of the text: there the name alone may mean either.
    fn forget_namesakes(&mut self, page: &Page<'_>, candidates: &[Candidate]) {
        if self.introduced.is_empty() {
            return;
        }
        let people = candidates
            .iter()
            .filter(|one| one.kind == PhiKind::NAME && !self.is_program(page, &one.span))
            .flat_map(|one| words(page.slice(one.span.clone())));
        let mut people = page.memory().collect(people.map(lexicon::hash));
        people.sort_unstable();
        self.introduced
            .retain(|name| people.binary_search(name).is_err());
    }

    /// Whether a span is a program. A name with a title, or with a label that announces a person, is not a program.
    fn is_program(&self, page: &Page<'_>, span: &Range<usize>) -> bool {
        self.has(page, span) && !follows_title(page, span.start) && !is_labelled(page, span.start)
    }

    /// Whether every word is that of a program, of its maker or of a product.
    fn has(&self, page: &Page<'_>, span: &Range<usize>) -> bool {
        let words = || words(page.slice(span.clone()));
        // The first word of nearly every name shows that it is not a program.
        let first = words().next().unwrap_or_default();
        if self.introduced.is_empty() && !(KNOWN.has(first) || is_part(first)) {
            return first.is_empty();
        }
        let is_introduced =
            |word: &[u8]| self.introduced.binary_search(&lexicon::hash(word)).is_ok();
        let is_known = |word: &[u8]| KNOWN.has(word);
        if words().all(|word| is_introduced(word) || is_part(word)) {
            return true;
        }
        // The comma of "However, Claude believes" is that of the sentence. "Kelly, Claude" is a person.
        let is_no_name = |word: &[u8]| LEXICON.sense(word).has(Sense::STOP);
        let is_after_comma = page.slice(span.clone()).contains(&b',')
            && words().next_back().is_some_and(is_introduced)
            && words().rev().skip(1).all(is_no_name);
        is_after_comma
            || words().all(|word| is_known(word) || is_part(word)) && is_among_software(page, span)
    }
}

/// Whether a word is that of a maker or of a product.
fn is_part(word: &[u8]) -> bool {
    MAKERS.has(word) || is_listed(&FAMILY, word)
}

/// Whether a label or a field says that a person's name starts here. Programs have a "name" too, but are not
/// patients.
fn is_labelled(page: &Page<'_>, start: usize) -> bool {
    let label = page.label_ending_at(start.saturating_sub(1));
    let field = page.field_at(start).and_then(|field| field.meaning);
    label.is_some_and(|label| label.meaning == Meaning::Name) || field == Some(Meaning::Name)
}

/// The words of a text.
fn words(text: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    text.split(|&byte| !is_word_byte(byte))
        .filter(|word| !word.is_empty())
}

/// Hashes of the words by which the text calls programs that it introduces, or whose versions it names, in order.
fn introduced(page: &Page<'_>) -> List<u64> {
    let bytes = page.bytes();
    let mut found = page.memory().list();
    for (phrase, is_before) in &*INTRODUCTIONS {
        for at in phrase.find_iter(bytes) {
            let start = at + phrase.needle().len();
            let name = word(page, start);
            let is_capital = name.first().is_some_and(u8::is_ascii_uppercase);
            let around = if *is_before {
                at.saturating_sub(INTRODUCTION_BYTES_MAX / 2)..at
            } else {
                start..bytes.len().min(start + INTRODUCTION_BYTES_MAX)
            };
            if is_capital && name.len() >= 2 && count(page.slice(around), &PROGRAMS) > 0 {
                found.push(lexicon::hash(name));
            }
        }
    }
    found.extend(of_products(page).map(lexicon::hash));
    found.sort_unstable();
    found.dedup();
    found
}

/// Finds the known programs by the rest of the product's name behind them ("Claude Code", "Gemini 2.5").
fn of_products<'a>(page: &Page<'a>) -> impl Iterator<Item = &'a [u8]> {
    let capitals = bytes64::places(page.bytes(), |byte| byte.is_ascii_uppercase());
    capitals.filter_map(|start| {
        if !KNOWN.has_first(page.byte(start)) {
            return None;
        }
        let name = word(page, start);
        let end = start + name.len();
        if page.byte(end) != b' ' || !is_listed(&KNOWN, name) {
            return None;
        }
        let next = word(page, end + 1);
        let is_version =
            next.is_empty() && page.byte(end + 1).is_ascii_digit() && page.byte(end + 2) == b'.';
        (is_version || is_listed(&FAMILY, next)).then_some(name)
    })
}

/// Whether the words around speak of software.
fn is_among_software(page: &Page<'_>, span: &Range<usize>) -> bool {
    let around = [
        page.slice(span.start.saturating_sub(SIGN_REACH_BYTES)..span.start),
        page.slice(span.end..page.text.len().min(span.end + SIGN_REACH_BYTES)),
    ];
    let count_in = |signs| -> usize { around.iter().map(|part| count(part, signs)).sum() };
    count_in(&SIGNS) > 0 || count_in(&WEAK_SIGNS) >= WEAK_SIGNS_MIN
}

/// Counts these words in a text.
fn count(text: &[u8], words: &WordList) -> usize {
    self::words(text)
        .filter(|word| is_listed(words, word))
        .count()
}

/// Whether a word is on a list as the list writes it, with a capital at most.
fn is_listed(list: &WordList, word: &[u8]) -> bool {
    list.forms(word).any(|one| {
        let is_shouted = one.iter().all(u8::is_ascii_uppercase);
        word[1..] == one[1..] && (!is_shouted || word[0] == one[0])
    })
}

/// The word that starts here.
fn word<'a>(page: &Page<'a>, start: usize) -> &'a [u8] {
    let rest = page.slice(start.min(page.text.len())..page.text.len().min(start + 24));
    let length = rest
        .iter()
        .take_while(|byte| byte.is_ascii_alphabetic())
        .count();
    &rest[..length]
}

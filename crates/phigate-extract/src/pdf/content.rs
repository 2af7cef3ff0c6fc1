//! Pages of a PDF: what their operators write, whether it shows or not.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use phigate_types::Unread;

use super::file::File;
use super::font::Font;
use super::inline;
use super::lexer::{Lexer, Token};
use super::object::{Dict, Object};
use super::state::{Glyph, Graphics, Matrix};
use super::strings;

/// The most operators of a document, each counted as often as it is executed.
const OPERATORS: usize = 4_000_000;

/// The most characters of a document.
const GLYPHS: usize = 4_000_000;

/// Nesting of forms, and of saved states.
const DEPTH: usize = 32;
const STATES: usize = 512;

/// Signs of a document whose fonts do not say their characters, such as the bullets of lists.
const SIGNS: usize = 2;

/// Operators that draw, colour or mark, and have no text.
const SILENT: &[&[u8]] = &[
    b"b", b"B", b"b*", b"B*", b"f", b"F", b"f*", b"s", b"S", b"n", b"W", b"W*", b"m", b"l", b"c",
    b"v", b"y", b"h", b"re", b"i", b"j", b"J", b"M", b"d", b"ri", b"w", b"CS", b"cs", b"SC",
    b"SCN", b"sc", b"scn", b"G", b"g", b"RG", b"rg", b"K", b"k", b"sh", b"d0", b"d1", b"BMC",
    b"EMC", b"MP", b"Tr",
];

/// Writing of a page or form.
#[derive(Default)]
pub(super) struct Written {
    /// Characters in the order in which they are written.
    pub(super) glyphs: Vec<Glyph>,
    /// Replacements, alternative texts and comments.
    pub(super) aside: String,
    /// Whether layers decide what shows.
    pub(super) has_layers: bool,
}

/// Reader of the pages of a document.
pub(super) struct Pages<'f, 'b> {
    pub(super) file: &'f File<'b>,
    /// Fonts by the place of their dictionaries.
    fonts: HashMap<usize, Rc<Font>>,
    contents: HashMap<usize, Rc<Vec<u8>>>,
    /// Forms that are being read, one inside the other.
    open: Vec<usize>,
    operators: usize,
    glyphs: usize,
    signs: BTreeSet<(usize, u32)>,
    written: Written,
}

/// State of one stream of operators.
struct Run<'f> {
    resources: Option<&'f Dict>,
    state: Graphics,
    saved: Vec<Graphics>,
    /// Open brackets in which unknown operators are allowed.
    lenient: usize,
}

impl<'f, 'b> Pages<'f, 'b> {
    pub(super) fn new(file: &'f File<'b>) -> Self {
        Self {
            file,
            fonts: HashMap::new(),
            contents: HashMap::new(),
            open: Vec::new(),
            operators: 0,
            glyphs: 0,
            signs: BTreeSet::new(),
            written: Written::default(),
        }
    }

    /// Reads the operators of a page.
    pub(super) fn page(
        &mut self,
        bytes: &[u8],
        resources: Option<&'f Dict>,
    ) -> Result<Written, Unread> {
        self.run(bytes, resources, Graphics::default())?;
        Ok(std::mem::take(&mut self.written))
    }

    /// Reads a form that no page writes, such as the look of a field.
    pub(super) fn form(
        &mut self,
        index: usize,
        resources: Option<&'f Dict>,
    ) -> Result<Written, Unread> {
        self.enter(index, resources, Graphics::default())?;
        Ok(std::mem::take(&mut self.written))
    }

    fn enter(
        &mut self,
        index: usize,
        outer: Option<&'f Dict>,
        mut state: Graphics,
    ) -> Result<(), Unread> {
        if self.open.contains(&index) {
            return Err(Unread::Damaged);
        }
        if self.open.len() >= DEPTH {
            return Err(Unread::Limit);
        }
        let file = self.file;
        let Object::Dict(dict) = &file.entries[index].object else {
            return Err(Unread::Damaged);
        };
        self.written.has_layers |= dict.has("OC");
        if let Some(matrix) = file.array(dict, "Matrix") {
            state.matrix = Matrix::of(file, matrix)?.then(state.matrix);
        }
        let content = match self.contents.get(&index) {
            Some(content) => Rc::clone(content),
            None => {
                let content = Rc::new(file.decode(index)?);
                self.contents.insert(index, Rc::clone(&content));
                content
            }
        };
        file.claim(index);
        self.open.push(index);
        self.run(&content, file.dict(dict, "Resources").or(outer), state)?;
        self.open.pop();
        Ok(())
    }

    fn run(
        &mut self,
        bytes: &[u8],
        resources: Option<&'f Dict>,
        state: Graphics,
    ) -> Result<(), Unread> {
        let mut run = Run {
            resources,
            state,
            saved: Vec::new(),
            lenient: 0,
        };
        let (mut lexer, mut operands) = (Lexer::of_page(bytes), Vec::new());
        loop {
            match lexer.next()? {
                Token::End => break,
                Token::Object(object) if operands.len() < 10_000 => operands.push(object),
                Token::Object(_) => return Err(Unread::Limit),
                Token::Word(b"BI") => inline::skip(self.file, &mut lexer)?,
                Token::Word(word) => {
                    self.operator(&mut run, word, &operands)?;
                    operands.clear();
                }
            }
            self.operators += 1;
            if self.operators > OPERATORS {
                return Err(Unread::Limit);
            }
        }
        self.written.aside.push_str(&lexer.comments);
        Ok(())
    }

    fn operator(
        &mut self,
        run: &mut Run<'f>,
        word: &[u8],
        operands: &[Object],
    ) -> Result<(), Unread> {
        match word {
            b"q" if run.saved.len() < STATES => run.saved.push(run.state.clone()),
            b"q" => return Err(Unread::Limit),
            b"Q" => run.state = run.saved.pop().unwrap_or_else(|| run.state.clone()),
            b"cm" => run.state.matrix = Matrix::of(self.file, operands)?.then(run.state.matrix),
            b"gs" => self.settings(run, operands)?,
            b"Do" => self.draw(run, operands)?,
            b"BDC" | b"DP" => self.mark(run, operands),
            b"BX" => run.lenient += 1,
            b"EX" => run.lenient = run.lenient.saturating_sub(1),
            b"Tf" => {
                let [Object::Name(name), Object::Number(size)] = operands else {
                    return Err(Unread::Damaged);
                };
                run.state.size = *size;
                let font = self.resource(run.resources, "Font", name);
                run.state.font = font.map(|font| self.font(font)).transpose()?;
            }
            b"Tj" | b"'" | b"\"" | b"TJ" => self.text(run, word, operands)?,
            _ if SILENT.contains(&word) => {}
            _ if run.state.place(self.file, word, operands)? || run.lenient > 0 => {}
            _ => return Err(Unread::Damaged),
        }
        Ok(())
    }

    /// Returns a named resource.
    fn resource(&self, resources: Option<&'f Dict>, kind: &str, name: &[u8]) -> Option<&'f Object> {
        self.file.dict(resources?, kind)?.get_own(name)
    }

    fn font(&mut self, object: &'f Object) -> Result<(usize, Rc<Font>), Unread> {
        let Object::Dict(dict) = self.file.follow(object).0 else {
            return Err(Unread::Damaged);
        };
        let key = std::ptr::from_ref(dict).addr();
        if let Some(font) = self.fonts.get(&key) {
            return Ok((key, Rc::clone(font)));
        }
        let font = Rc::new(Font::read(self.file, dict)?);
        self.fonts.insert(key, Rc::clone(&font));
        Ok((key, font))
    }

    /// Takes the font of a dictionary of settings.
    fn settings(&mut self, run: &mut Run<'f>, operands: &[Object]) -> Result<(), Unread> {
        let [Object::Name(name)] = operands else {
            return Err(Unread::Damaged);
        };
        let settings = self.resource(run.resources, "ExtGState", name);
        if let Some(Object::Dict(settings)) = settings.map(|each| self.file.follow(each).0)
            && let Some([font, Object::Number(size)]) = self.file.array(settings, "Font")
        {
            run.state.font = Some(self.font(font)?);
            run.state.size = *size;
        }
        Ok(())
    }

    fn draw(&mut self, run: &mut Run<'f>, operands: &[Object]) -> Result<(), Unread> {
        let [Object::Name(name)] = operands else {
            return Err(Unread::Damaged);
        };
        let object = self.resource(run.resources, "XObject", name);
        let stream = object.and_then(|object| self.file.stream(object));
        let (index, dict) = stream.ok_or(Unread::Damaged)?;
        match dict.name("Subtype") {
            Some(b"Form") => {
                let state = run.state.clone();
                self.enter(index, run.resources, state)
            }
            // All images of the file are checked later.
            Some(b"Image") => {
                self.written.has_layers |= dict.has("OC");
                Ok(())
            }
            _ => Err(Unread::ActiveContent),
        }
    }

    /// Takes the properties of marked content.
    fn mark(&mut self, run: &Run<'f>, operands: &[Object]) {
        if let [Object::Name(tag), properties] = operands {
            self.written.has_layers |= tag == b"OC";
            let named = match properties {
                Object::Name(name) => self.resource(run.resources, "Properties", name),
                _ => None,
            };
            if named.is_none() {
                strings::collect(properties, &mut self.written.aside);
            }
        }
    }

    fn text(&mut self, run: &mut Run<'f>, word: &[u8], operands: &[Object]) -> Result<(), Unread> {
        let items = match (word, operands) {
            (b"TJ", [Object::Array(items)]) => items.as_slice(),
            (b"\"", [Object::Number(words), Object::Number(letters), text]) => {
                (run.state.word_space, run.state.letter_space) = (*words, *letters);
                std::slice::from_ref(text)
            }
            (b"Tj" | b"'", [text]) => std::slice::from_ref(text),
            _ => return Err(Unread::Damaged),
        };
        if matches!(word, b"'" | b"\"") {
            run.state.next_line();
        }
        let start = self.written.glyphs.len();
        for item in items {
            match item {
                Object::Number(offset) => run.state.kern(*offset),
                Object::Text(bytes) => self.show(&mut run.state, bytes)?,
                _ => return Err(Unread::Damaged),
            }
        }
        if let [alone] = &mut self.written.glyphs[start..] {
            alone.is_alone = true;
        }
        let shown = &self.written.glyphs[start..];
        let signs = shown.iter().filter(|glyph| glyph.text.is_none()).count();
        let letters = shown.iter().filter(|glyph| !glyph.is_space()).count();
        if signs > 0 && letters > 1 || self.signs.len() > SIGNS {
            return Err(Unread::NoText);
        }
        Ok(())
    }

    fn show(&mut self, state: &mut Graphics, bytes: &[u8]) -> Result<(), Unread> {
        if bytes.is_empty() {
            return Ok(());
        }
        let (key, font) = state.font.clone().ok_or(Unread::NoText)?;
        for shown in font.show(bytes)? {
            if shown.text.is_none() {
                self.signs.insert((key, shown.code));
            }
            let is_space = shown.code == 32 && shown.length == 1;
            let glyph = state.advance(shown.text, shown.width, is_space, font.is_vertical);
            self.written.glyphs.push(glyph);
            self.glyphs += 1;
        }
        if self.glyphs > GLYPHS {
            return Err(Unread::Limit);
        }
        Ok(())
    }
}

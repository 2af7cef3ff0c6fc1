//! Judges of replies: whether a value is in an address for a browser, a Markdown renderer or a chat window.

use html5ever::tendril::TendrilSink;
use html5ever::{ParseOpts, QualName, local_name, ns, parse_fragment};
use linkify::LinkFinder;
use markup5ever_rcdom::{Handle, NodeData, RcDom};
use pulldown_cmark::{Event, Options, Parser, TextMergeStream, html};

/// Elements with content that is not read by people.
const TEXT_ELEMENTS: &[&str] = &[
    "iframe", "noembed", "noframes", "script", "style", "textarea", "title", "xmp",
];

/// The first place in an address or in markup that holds a value, for any reader of the text.
pub(crate) fn held_in_address(text: &str, value: &str) -> Option<String> {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let mut rendered = String::new();
    html::push_html(&mut rendered, Parser::new_ext(text, options));
    let in_rendered = held_in_html(&rendered, value, true);
    let of_markdown = in_rendered.map(|place| format!("Markdown: {place} of {rendered:?}"));
    of_markdown
        .or_else(|| held_in_links(text, value))
        .or_else(|| held_in_html(text, value, true))
        .or_else(|| held_in_html(text, value, false))
}

fn held_in_html(text: &str, value: &str, has_scripts: bool) -> Option<String> {
    let mut options = ParseOpts::default();
    options.tree_builder.scripting_enabled = has_scripts;
    let body = QualName::new(None, ns!(html), local_name!("body"));
    let parser = parse_fragment(RcDom::default(), options, body, Vec::new(), true);
    held_in_node(&parser.one(text).document, &value.to_lowercase())
}

fn held_in_node(node: &Handle, value: &str) -> Option<String> {
    let held = match &node.data {
        NodeData::Element { name, attrs, .. } => {
            let attributes = attrs.borrow();
            let mut held = attributes.iter().filter(|attribute| {
                holds(&attribute.value, value) || holds(&attribute.name.local, value)
            });
            let attribute = held
                .next()
                .map(|attribute| attribute.name.local.to_string());
            let is_name = holds(&name.local, value);
            let is_text = TEXT_ELEMENTS.contains(&name.local.as_ref());
            let in_text = is_text && holds(&text_of(node), value);
            attribute.or_else(|| (is_name || in_text).then(|| name.local.to_string()))
        }
        _ => None,
    };
    held.or_else(|| {
        let children = node.children.borrow();
        children.iter().find_map(|child| held_in_node(child, value))
    })
}

/// Looks at the links that chat windows make of words, in the reply as it is and in the texts that Markdown makes of it.
fn held_in_links(text: &str, value: &str) -> Option<String> {
    let events = TextMergeStream::new(Parser::new(text));
    let texts = events.filter_map(|event| match event {
        Event::Text(text) | Event::Code(text) => Some(text.into_string()),
        _ => None,
    });
    let mut finder = LinkFinder::new();
    finder.url_must_have_scheme(false);
    let mut texts = texts.chain([text.to_owned()]);
    texts.find_map(|text| {
        let mut links = finder.links(&text);
        let held = links.find(|link| is_held_by_link(link.as_str(), &value.to_lowercase()));
        held.map(|link| format!("text {:?}", link.as_str()))
    })
}

/// Whether a link that a chat window makes of text holds a value. A host whose last part is the value cannot have an
/// owner.
fn is_held_by_link(link: &str, value: &str) -> bool {
    let has_owner = link.contains("://") || link.contains(['@', ':']);
    let host = link.split(['/', '?', '#']).next().unwrap_or_default();
    let last = host.rsplit_once('.').filter(|_| !has_owner);
    last.is_none_or(|(_, last)| !holds(last, value)) && holds(link, value)
}

fn holds(text: &str, value: &str) -> bool {
    text.to_lowercase().contains(value)
}

fn text_of(node: &Handle) -> String {
    let children = node.children.borrow();
    let texts = children.iter().map(|child| match &child.data {
        NodeData::Text { contents } => contents.borrow().to_string(),
        _ => text_of(child),
    });
    texts.collect()
}

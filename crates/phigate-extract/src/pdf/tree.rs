//! Pages of a PDF in their order.

use std::collections::{HashMap, HashSet};

use phigate_types::Unread;

use super::file::File;
use super::object::{Dict, Object};
use crate::bounds;

/// A page.
pub(super) struct Page<'f> {
    /// Number of its object.
    pub(super) number: u32,
    pub(super) dict: &'f Dict,
    /// Fonts and forms, which it may have from a group of pages.
    pub(super) resources: Option<&'f Dict>,
}

/// Group of pages or page that is to be read.
struct Node<'f> {
    object: &'f Object,
    resources: Option<&'f Dict>,
    depth: usize,
}

/// Returns the pages of a document.
pub(super) fn pages<'f>(file: &'f File<'_>) -> Result<Vec<Page<'f>>, Unread> {
    let trailer = file.trailers.first().ok_or(Unread::Damaged)?;
    let root = file.dict(trailer, "Root").ok_or(Unread::Damaged)?;
    let object = root.get_own(b"Pages").ok_or(Unread::Damaged)?;
    let mut next = vec![Node {
        object,
        resources: None,
        depth: 0,
    }];
    let (mut pages, mut seen) = (Vec::new(), HashSet::new());
    while let Some(node) = next.pop() {
        let (Object::Dict(dict), Some(index)) = file.follow(node.object) else {
            return Err(Unread::Damaged);
        };
        // A page that is there twice, or a circle.
        if !seen.insert(index) {
            return Err(Unread::Damaged);
        }
        if node.depth > bounds::DEPTH || seen.len() > bounds::PARTS {
            return Err(Unread::Limit);
        }
        let resources = file.dict(dict, "Resources").or(node.resources);
        if let Some(kids) = file.array(dict, "Kids") {
            next.extend(kids.iter().rev().map(|object| Node {
                object,
                resources,
                depth: node.depth + 1,
            }));
        } else {
            pages.push(Page {
                number: file.entries[index].number,
                dict,
                resources,
            });
        }
    }
    if pages.is_empty() {
        return Err(Unread::NoText);
    }
    Ok(pages)
}

/// Page of an older revision, or the older content of a page.
#[derive(Clone, Copy)]
pub(super) struct Older<'f> {
    /// Page, counted from 1, if there still is one.
    pub(super) page: Option<u32>,
    pub(super) resources: Option<&'f Dict>,
}

/// Returns the pages to which streams belong that were replaced, by the numbers of the streams.
pub(super) fn older<'f>(file: &'f File<'_>, pages: &[Page<'f>]) -> HashMap<u32, Older<'f>> {
    let mut older = HashMap::new();
    let current = (1..)
        .zip(pages)
        .map(|(number, page)| (number, page.number, page.resources));
    let current: Vec<_> = current.collect();
    let written = file.entries.iter().filter_map(|entry| match &entry.object {
        Object::Dict(dict) if dict.is("Type", "Page") => Some((entry.number, dict)),
        _ => None,
    });
    for (number, dict) in written {
        let page = current.iter().find(|(_, known, _)| *known == number);
        let own = file.dict(dict, "Resources");
        let place = Older {
            page: page.map(|(page, ..)| *page),
            resources: own.or_else(|| page.and_then(|(.., resources)| *resources)),
        };
        let streams = match dict
            .get_own(b"Contents")
            .map(|object| (object, file.follow(object).0))
        {
            Some((_, Object::Array(streams))) => streams.as_slice(),
            Some((stream, _)) => std::slice::from_ref(stream),
            None => &[],
        };
        for stream in streams {
            if let Object::Ref(stream, _) = stream {
                older.insert(*stream, place);
            }
        }
    }
    older
}

/// Returns the operators of a page.
pub(super) fn content(file: &File<'_>, page: &Dict) -> Result<Vec<u8>, Unread> {
    let streams = match file.get(page, "Contents") {
        Some(Object::Array(streams)) => streams.as_slice(),
        Some(_) => page
            .get_own(b"Contents")
            .map_or(&[][..], std::slice::from_ref),
        None => &[],
    };
    let mut content = Vec::new();
    for stream in streams {
        let (index, _) = file.stream(stream).ok_or(Unread::Damaged)?;
        file.claim(index);
        content.extend(file.decode(index)?);
        content.push(b'\n');
        if content.len() > bounds::EXPANDED {
            return Err(Unread::TooLarge);
        }
    }
    Ok(content)
}

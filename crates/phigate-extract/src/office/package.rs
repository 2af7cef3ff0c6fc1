//! Package of an office file: its format, its main part, and what its content types and relations say.

use std::collections::HashSet;
use std::ops::Range;

use phigate_types::Unread;

use crate::xml::{self, Element, Visit};
use crate::zip::Entry;

/// Format of an office file that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Text,
    Sheets,
    Slides,
    /// OpenDocument text.
    OpenText,
}

/// Content types of main parts, by what they have inside.
const MAIN_TYPES: &[(&str, Format)] = &[
    ("wordprocessingml.document.main+xml", Format::Text),
    ("wordprocessingml.template.main+xml", Format::Text),
    ("spreadsheetml.sheet.main+xml", Format::Sheets),
    ("spreadsheetml.template.main+xml", Format::Sheets),
    ("presentationml.presentation.main+xml", Format::Slides),
    ("presentationml.slideshow.main+xml", Format::Slides),
    ("presentationml.template.main+xml", Format::Slides),
];

/// Words in content types, names or relations of programs inside a document.
const ACTIVE: &[&str] = &[
    "macroenabled",
    "vbaproject",
    "vbadata",
    "activex",
    "macrosheet",
    "ms-office.script",
];

/// Folders of programs in OpenDocument files.
const ACTIVE_FOLDERS: &[&str] = &["Basic/", "Scripts/"];

/// Words of usual part names, without digits. Other names are text.
const USUAL: &[&str] = &[
    "activity",
    "app",
    "calcChain",
    "charts",
    "chart",
    "colors",
    "comment",
    "comments",
    "commentsExtended",
    "commentsExtensible",
    "commentsIds",
    "connections",
    "content",
    "core",
    "custom",
    "customXml",
    "data",
    "diagrams",
    "docProps",
    "document",
    "drawing",
    "drawings",
    "endnotes",
    "externalLink",
    "externalLinks",
    "fontTable",
    "footer",
    "footnotes",
    "glossary",
    "handoutMaster",
    "handoutMasters",
    "header",
    "image",
    "item",
    "itemProps",
    "layout",
    "manifest",
    "media",
    "meta",
    "metadata",
    "mimetype",
    "notesMaster",
    "notesMasters",
    "notesSlide",
    "notesSlides",
    "numbering",
    "people",
    "person",
    "persons",
    "pivotCache",
    "pivotCacheDefinition",
    "pivotCacheRecords",
    "pivotTable",
    "pivotTables",
    "ppt",
    "presProps",
    "presentation",
    "printerSettings",
    "queryTable",
    "queryTables",
    "quickStyle",
    "rdf",
    "rels",
    "settings",
    "sharedStrings",
    "sheet",
    "slide",
    "slideLayout",
    "slideLayouts",
    "slideMaster",
    "slideMasters",
    "slides",
    "style",
    "styles",
    "stylesWithEffects",
    "table",
    "tableStyles",
    "tables",
    "tag",
    "tags",
    "theme",
    "themeOverride",
    "threadedComment",
    "threadedComments",
    "thumbnail",
    "viewProps",
    "vmlDrawing",
    "webSettings",
    "word",
    "workbook",
    "worksheets",
    "xl",
    "META-INF",
    "Thumbnails",
    "Configurations",
    "Content_Types",
    "_rels",
    "xml",
    "png",
    "jpeg",
    "jpg",
    "gif",
    "bin",
    "vml",
    "",
];

/// Parts that describe the look of a document.
const BACKGROUND: &[&str] = &[
    "[Content_Types].xml",
    "_rels/",
    "/_rels/",
    "/theme/",
    "/styles",
    "/stylesWithEffects",
    "/fontTable",
    "/webSettings",
    "/settings",
    "/numbering",
    "/slideLayouts/",
    "/slideMasters/",
    "/notesMasters/",
    "/handoutMasters/",
    "/presProps",
    "/viewProps",
    "/tableStyles",
    "/calcChain",
    "/presentation.xml",
    "/printerSettings/",
    "docProps/",
    "META-INF/",
    "/customXml/itemProps",
    "customXml/itemProps",
    "Configurations",
    "manifest.rdf",
    "mimetype",
    "styles.xml",
    "settings.xml",
    "meta.xml",
];

/// Statements of the package about its parts.
pub(super) struct Package {
    pub(super) format: Format,
    main: String,
    previews: HashSet<String>,
}

impl Package {
    /// Reads what the package says.
    pub(super) fn of(entries: &[Entry]) -> Result<Self, Unread> {
        let find = |name: &str| entries.iter().find(|entry| entry.name == name);
        if let Some(mime) = find("mimetype") {
            return Self::open_document(entries, mime);
        }
        let types = find("[Content_Types].xml").ok_or(Unread::UnknownType)?;
        let roots = find("_rels/.rels").ok_or(Unread::Damaged)?;
        let types = rows(&types.body)?;
        let is_active = |text: &str| {
            let text = text.to_ascii_lowercase();
            ACTIVE.iter().any(|word| text.contains(word))
        };
        let mut names = types.iter().flat_map(|row| [&row.kind, &row.target]);
        if names.any(|text| is_active(text)) || entries.iter().any(|entry| is_active(&entry.name)) {
            return Err(Unread::ActiveContent);
        }
        let roots = rows(&roots.body)?;
        let target = |row: &Row| row.target.trim_start_matches('/').to_owned();
        let mut main = roots
            .iter()
            .filter(|row| row.kind.ends_with("/officeDocument"));
        let main = target(main.next().ok_or(Unread::Damaged)?);
        find(&main).ok_or(Unread::Damaged)?;
        let ending = format!("*.{}", main.rsplit('.').next().unwrap_or_default());
        let of = |name: &str| {
            types
                .iter()
                .find(|row| row.target.trim_start_matches('/') == name)
        };
        let kind = &of(&main)
            .or_else(|| of(&ending))
            .ok_or(Unread::Damaged)?
            .kind;
        let format = MAIN_TYPES.iter().find(|(end, _)| kind.ends_with(end));
        Ok(Self {
            format: format.ok_or(Unread::UnknownType)?.1,
            main,
            previews: roots
                .iter()
                .filter(|row| row.kind.ends_with("/metadata/thumbnail"))
                .map(target)
                .collect(),
        })
    }

    fn open_document(entries: &[Entry], mime: &Entry) -> Result<Self, Unread> {
        let manifest = entries
            .iter()
            .find(|entry| entry.name == "META-INF/manifest.xml");
        let manifest = manifest.ok_or(Unread::Damaged)?;
        if crate::sniff::has(&manifest.body, b"encryption-data") {
            return Err(Unread::Encrypted);
        }
        let has_programs = entries.iter().any(|entry| {
            ACTIVE_FOLDERS
                .iter()
                .any(|folder| entry.name.starts_with(folder) && entry.name != *folder)
        });
        if has_programs {
            return Err(Unread::ActiveContent);
        }
        let is_text = mime
            .body
            .starts_with(b"application/vnd.oasis.opendocument.text");
        if !is_text {
            return Err(Unread::UnknownType);
        }
        if !entries.iter().any(|entry| entry.name == "content.xml") {
            return Err(Unread::Damaged);
        }
        Ok(Self {
            format: Format::OpenText,
            main: "content.xml".to_owned(),
            previews: HashSet::from(["Thumbnails/thumbnail.png".to_owned()]),
        })
    }

    /// Returns the name of the main part.
    pub(super) fn main(&self) -> &str {
        &self.main
    }

    /// Returns the place of a part in the text: the main part first, then slides in their order, then the others.
    pub(super) fn rank(&self, name: &str) -> (u8, u32) {
        let digits: String = name.chars().filter(char::is_ascii_digit).collect();
        let number = digits.parse().unwrap_or(0);
        match name {
            _ if name == self.main => (0, 0),
            _ if name.contains("/slides/slide") => (1, number),
            _ => (2, 0),
        }
    }

    /// Whether a part describes the look of the document.
    pub(super) fn is_background(&self, name: &str) -> bool {
        name != self.main
            && BACKGROUND
                .iter()
                .any(|word| name.starts_with(word) || word.starts_with('/') && name.contains(word))
    }

    /// Whether the name of a part is one that programs give.
    #[expect(
        clippy::unused_self,
        reason = "asked beside the other questions about a part"
    )]
    pub(super) fn is_usual(&self, name: &str) -> bool {
        name.split(['/', '.', '[', ']']).all(|word| {
            let letters = word.trim_end_matches(|each: char| each.is_ascii_digit());
            word.len() - letters.len() <= 4 && USUAL.contains(&letters)
        })
    }

    /// Whether a part is a preview of the document's first page.
    pub(super) fn is_preview(&self, name: &str) -> bool {
        self.previews.contains(name)
    }

    /// Whether programs write a part as HTML that need not be well-formed XML.
    #[expect(
        clippy::unused_self,
        reason = "asked beside the other questions about a part"
    )]
    pub(super) fn may_be_loose(&self, name: &str) -> bool {
        [".vml", ".htm", ".html"]
            .iter()
            .any(|end| name.ends_with(end))
    }

    /// Whether a part has the settings of a printer, which are bytes of its driver.
    #[expect(
        clippy::unused_self,
        reason = "asked beside the other questions about a part"
    )]
    pub(super) fn is_printer_settings(&self, name: &str) -> bool {
        name.contains("/printerSettings/printerSettings") && name.ends_with(".bin")
    }
}

/// Row of the content types or of relations.
pub(super) struct Row {
    /// Id of a relation.
    pub(super) id: String,
    /// Type.
    pub(super) kind: String,
    /// Part or address.
    pub(super) target: String,
}

#[derive(Default)]
struct Rows(Vec<Row>);

impl Visit for Rows {
    fn start(&mut self, element: &Element<'_>) -> Result<(), Unread> {
        let get = |names: [&str; 2]| {
            let value = names.iter().find_map(|name| element.get(name));
            value.unwrap_or_default().to_owned()
        };
        let kind = get(["ContentType", "Type"]);
        let of_all = element.get("Extension").map(|ending| format!("*.{ending}"));
        let target = of_all.unwrap_or_else(|| get(["PartName", "Target"]));
        if !kind.is_empty() {
            self.0.push(Row {
                id: get(["Id", "Id"]),
                kind,
                target,
            });
        }
        Ok(())
    }

    fn end(&mut self, _: &str, _: &str) -> Result<(), Unread> {
        Ok(())
    }

    fn text(&mut self, _: &str) -> Result<(), Unread> {
        Ok(())
    }

    fn aside(&mut self, _: &str, _: Range<usize>) -> Result<(), Unread> {
        Ok(())
    }
}

/// Returns the rows of the content types or of relations.
pub(super) fn rows(bytes: &[u8]) -> Result<Vec<Row>, Unread> {
    let mut rows = Rows::default();
    xml::visit(&xml::decode(bytes)?, &mut rows)?;
    Ok(rows.0)
}

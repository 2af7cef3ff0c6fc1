//! Plants mutants: `plant-mutants FILE…` rewrites each file to contain all its mutants, and prints one line per mutant
//! with number, file, line, function and change, separated by tabs. The environment variable `MUTANT` selects the active
//! one at run time, so one build serves for all; `MUTANT_TRACE` names a file for the numbers of reached mutants.
//!
//! Mutations: comparisons inverted or moved by one, conditions removed or inverted, sums made differences, statements
//! removed, and functions that return at once with a plain value.

use std::collections::HashMap;

use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{BinOp, Expr, Stmt, UnOp};

/// Code added to every crate with mutants.
const SWITCH: &str = r#"
#[allow(dead_code, clippy::all)]
mod mutants {
    use std::io::Write;
    use std::sync::LazyLock;
    use std::sync::atomic::{AtomicBool, Ordering};
    static ALIVE: LazyLock<usize> = LazyLock::new(|| {
        let number = std::env::var("MUTANT").ok().and_then(|text| text.parse().ok());
        number.unwrap_or(usize::MAX)
    });
    static TRACE: LazyLock<Option<String>> = LazyLock::new(|| std::env::var("MUTANT_TRACE").ok());
    static REACHED: [AtomicBool; 20_000] = [const { AtomicBool::new(false) }; 20_000];
    #[inline(never)]
    pub(crate) fn is(number: usize) -> bool {
        if let Some(path) = &*TRACE
            && !REACHED[number].swap(true, Ordering::Relaxed)
            && let Ok(mut file) = std::fs::OpenOptions::new().append(true).create(true).open(path)
        {
            let _ = file.write_all(format!("{number}\n").as_bytes());
        }
        *ALIVE == number
    }
}
"#;

/// Text to insert. At one offset, ends come first, inner before outer ones; beginnings in reverse order.
struct Edit {
    at: usize,
    order: (bool, isize),
    text: String,
}

struct Planter<'s> {
    source: &'s str,
    file: &'s str,
    functions: Vec<String>,
    edits: Vec<Edit>,
    wraps: isize,
    next: &'s mut usize,
}

impl Planter<'_> {
    /// Registers a mutant; returns the expression for whether it is active.
    fn plant(&mut self, at: &impl Spanned, change: &str) -> String {
        let number = *self.next;
        *self.next += 1;
        let line = at.span().start().line;
        let function = self.functions.last().map_or("", String::as_str);
        let change = change.split_whitespace().collect::<Vec<_>>().join(" ");
        println!("{number}\t{}\t{line}\t{function}\t{change}", self.file);
        format!("crate::mutants::is({number})")
    }

    fn text(&self, what: &impl Spanned) -> &str {
        &self.source[what.span().byte_range()]
    }

    fn wrap(&mut self, what: &impl Spanned, before: String, after: String) {
        let range = what.span().byte_range();
        self.wraps += 1;
        self.edits.push(Edit { at: range.start, order: (true, self.wraps), text: before });
        self.edits.push(Edit { at: range.end, order: (false, -self.wraps), text: after });
    }

    fn turn_round(&mut self, what: &impl Spanned, change: &str) {
        let alive = self.plant(what, change);
        self.wrap(what, "((".to_owned(), format!(") ^ {alive})"));
    }

    /// Replaces one side of `&&` by true, or of `||` by false.
    fn leave_out(&mut self, side: &Expr, is_and: bool) {
        if !has_let(side) {
            let alive = self.plant(side, &format!("condition left out: {}", self.text(side)));
            let rest = if is_and { format!(") || {alive})") } else { format!(") && !{alive})") };
            self.wrap(side, "((".to_owned(), rest);
        }
    }

    fn exchange(&mut self, whole: &Expr, left: &Expr, right: &Expr, other: &str) {
        if is_simple(left) && is_simple(right) {
            let other = format!("{} {other} {}", self.text(left), self.text(right));
            let alive = self.plant(whole, &format!("{} -> {other}", self.text(whole)));
            self.wrap(whole, format!("(if {alive} {{ {other} }} else {{ "), " })".to_owned());
        }
    }

    fn function(&mut self, signature: &syn::Signature, block: &syn::Block) {
        if signature.constness.is_some() || block.stmts.is_empty() {
            return;
        }
        self.functions.push(signature.ident.to_string());
        let values = match &signature.output {
            syn::ReturnType::Default => vec!["()"],
            syn::ReturnType::Type(_, kind) => plain_values(self.text(kind)),
        };
        for value in values {
            let alive = self.plant(signature, &format!("returns {value} at once"));
            let at = block.brace_token.span.open().byte_range().end;
            self.wraps += 1;
            let text = format!(" if {alive} {{ return {value}; }}");
            self.edits.push(Edit { at, order: (false, self.wraps), text });
        }
        visit::visit_block(self, block);
        self.functions.pop();
    }
}

/// Plain values for a return type; empty for unknown types.
fn plain_values(kind: &str) -> Vec<&'static str> {
    let kind: String = kind.split_whitespace().collect();
    match kind.as_str() {
        "bool" => vec!["true", "false"],
        "usize" | "u64" | "u32" | "u16" | "u8" | "i64" | "i32" => vec!["0", "1"],
        "String" => vec!["String::new()"],
        "&str" | "&'staticstr" => vec!["\"\""],
        kind if kind.starts_with("Option<") => vec!["None"],
        kind if kind.starts_with("Vec<") => vec!["Vec::new()"],
        kind if kind.starts_with("Result<()") || kind == "io::Result<()>" => vec!["Ok(())"],
        kind if kind.starts_with("Result<bool") => vec!["Ok(true)", "Ok(false)"],
        kind if kind.starts_with("Result<Option<") => vec!["Ok(None)"],
        kind if kind.starts_with("Result<Vec<") => vec!["Ok(Vec::new())"],
        _ => Vec::new(),
    }
}

/// Whether an expression may be evaluated twice without side effects.
fn is_simple(expr: &Expr) -> bool {
    match expr {
        Expr::Path(_) => true,
        Expr::Lit(lit) => matches!(lit.lit, syn::Lit::Int(_) | syn::Lit::Byte(_)),
        Expr::Field(field) => is_simple(&field.base),
        Expr::Unary(unary) => matches!(unary.op, UnOp::Deref(_)) && is_simple(&unary.expr),
        Expr::MethodCall(call) => call.args.is_empty() && call.method == "len" && is_simple(&call.receiver),
        _ => false,
    }
}

fn has_let(expr: &Expr) -> bool {
    match expr {
        Expr::Let(_) => true,
        Expr::Binary(binary) => has_let(&binary.left) || has_let(&binary.right),
        Expr::Paren(paren) => has_let(&paren.expr),
        _ => false,
    }
}

/// Whether a condition is mutated here; comparisons and the like are mutated on their own.
fn is_plain_condition(expr: &Expr) -> bool {
    matches!(expr, Expr::MethodCall(_) | Expr::Call(_) | Expr::Path(_) | Expr::Field(_) | Expr::Macro(_))
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    let mut attributes = attributes.iter();
    attributes.any(|one| one.path().is_ident("test") || one.path().is_ident("cfg"))
}

impl<'a> Visit<'a> for Planter<'_> {
    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::Binary(binary) = expr {
            let (left, right) = (&*binary.left, &*binary.right);
            match binary.op {
                BinOp::Eq(_) | BinOp::Ne(_) => self.turn_round(expr, &format!("not {}", self.text(expr))),
                BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_) => {
                    self.turn_round(expr, &format!("not {}", self.text(expr)));
                    if is_simple(left) && is_simple(right) {
                        let alive = self.plant(expr, &format!("by one: {}", self.text(expr)));
                        let equal = format!("({}) == ({})", self.text(left), self.text(right));
                        self.wrap(expr, "((".to_owned(), format!(") ^ ({alive} && {equal}))"));
                    }
                }
                BinOp::And(_) | BinOp::Or(_) => {
                    let is_and = matches!(binary.op, BinOp::And(_));
                    self.leave_out(left, is_and);
                    self.leave_out(right, is_and);
                }
                BinOp::Add(_) => self.exchange(expr, left, right, "-"),
                BinOp::Sub(_) => self.exchange(expr, left, right, "+"),
                BinOp::AddAssign(_) => self.exchange(expr, left, right, "-="),
                BinOp::SubAssign(_) => self.exchange(expr, left, right, "+="),
                _ => {}
            }
        }
        if let Expr::Unary(unary) = expr
            && matches!(unary.op, UnOp::Not(_))
        {
            self.turn_round(expr, &format!("not {}", self.text(expr)));
        }
        visit::visit_expr(self, expr);
    }

    fn visit_expr_if(&mut self, expr: &'a syn::ExprIf) {
        if is_plain_condition(&expr.cond) {
            self.turn_round(&*expr.cond, &format!("not {}", self.text(&*expr.cond)));
        }
        visit::visit_expr_if(self, expr);
    }

    fn visit_arm(&mut self, arm: &'a syn::Arm) {
        if let Some((_, guard)) = &arm.guard
            && is_plain_condition(guard)
        {
            self.turn_round(&**guard, &format!("guard not {}", self.text(&**guard)));
        }
        visit::visit_arm(self, arm);
    }

    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        if let Stmt::Expr(expr, Some(_)) = stmt
            && matches!(expr, Expr::MethodCall(_) | Expr::Call(_) | Expr::Try(_) | Expr::Await(_))
        {
            let alive = self.plant(stmt, &format!("left out: {}", self.text(stmt)));
            self.wrap(stmt, format!("if !{alive} {{ "), " }".to_owned());
        }
        visit::visit_stmt(self, stmt);
    }

    fn visit_item_fn(&mut self, item: &'a syn::ItemFn) {
        if !is_test(&item.attrs) {
            self.function(&item.sig, &item.block);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'a syn::ImplItemFn) {
        if !is_test(&item.attrs) {
            self.function(&item.sig, &item.block);
        }
    }

    fn visit_item_impl(&mut self, item: &'a syn::ItemImpl) {
        // Formatting a value guards no promise.
        let shows = item.trait_.as_ref().and_then(|(_, path, _)| path.segments.last());
        if !shows.is_some_and(|name| name.ident == "Debug" || name.ident == "Display") {
            visit::visit_item_impl(self, item);
        }
    }

    fn visit_item_mod(&mut self, item: &'a syn::ItemMod) {
        if !is_test(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_const(&mut self, _: &'a syn::ItemConst) {}
    fn visit_item_static(&mut self, _: &'a syn::ItemStatic) {}
    fn visit_impl_item_const(&mut self, _: &'a syn::ImplItemConst) {}
    fn visit_type(&mut self, _: &'a syn::Type) {}
    fn visit_pat(&mut self, _: &'a syn::Pat) {}
}

fn main() {
    let (mut next, mut crates) = (0, HashMap::new());
    for file in std::env::args().skip(1) {
        let source = std::fs::read_to_string(&file).expect("a file of the sources");
        let tree = syn::parse_file(&source).expect("Rust");
        let mut planter = Planter {
            source: &source,
            file: &file,
            functions: Vec::new(),
            edits: Vec::new(),
            wraps: 0,
            next: &mut next,
        };
        planter.visit_file(&tree);
        let mut edits = planter.edits;
        edits.sort_by_key(|edit| (edit.at, edit.order));
        let (mut out, mut from) = (String::new(), 0);
        for edit in edits {
            out.push_str(&source[from..edit.at]);
            out.push_str(&edit.text);
            from = edit.at;
        }
        out.push_str(&source[from..]);
        std::fs::write(&file, out).expect("the file can be written");
        let (folder, _) = file.split_once("/src/").expect("a file of a crate");
        crates.insert(format!("{folder}/src/lib.rs"), ());
    }
    for lib in crates.keys() {
        let text = std::fs::read_to_string(lib).expect("every crate here has a library");
        // Lints do not apply to generated code.
        let text = format!("#![allow(warnings)]\n{text}{SWITCH}");
        std::fs::write(lib, text).expect("it can be written");
    }
}

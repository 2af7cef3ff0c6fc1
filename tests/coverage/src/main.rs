//! Writes switches into the decisions of a copy of the detector: `phi-coverage FOLDER EXCEPT FILE…`.
//!
//! Each file is rewritten in place, line for line. Standard output gets one row per switch: number, file, line, first and last
//! byte, form, whether it can be true, whether it can be false, source text. `EXCEPT` names a file of `file:start` rows that
//! get no switch, because the compiler refused them.

use std::collections::HashSet;
use std::ops::Range;

use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// Methods whose closure answers yes or no.
const ASKING: &[&str] = &[
    "all",
    "any",
    "filter",
    "find",
    "is_none_or",
    "is_some_and",
    "partition_point",
    "position",
    "retain",
    "rfind",
    "rposition",
    "skip_while",
    "take_while",
    "take_if",
    "extract_if",
];

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().unwrap_or_default();
    let except = std::fs::read_to_string(arguments.next().unwrap_or_default())?;
    let except: HashSet<&str> = except.lines().collect();
    let mut number = 0;
    for file in arguments {
        let path = format!("{folder}/{file}");
        let source = std::fs::read_to_string(&path)?;
        let parsed = syn::parse_file(&source).map_err(std::io::Error::other)?;
        let mut sites = Sites::default();
        sites.visit_file(&parsed);
        let mut edits: Vec<(usize, bool, usize, String)> = Vec::new();
        for site in sites.all {
            let Range { start, end } = site.range.clone();
            if except.contains(format!("{file}:{start}:{}", site.form.name()).as_str()) {
                continue;
            }
            let text = source[start..end]
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" ");
            let line = source[..start].matches('\n').count() + 1;
            let (is_true, is_false) = site.form.values();
            println!(
                "{number}\t{file}\t{line}\t{start}\t{end}\t{}\t{}\t{}\t{text}",
                site.form.name(),
                u8::from(is_true),
                u8::from(is_false)
            );
            let (open, close) = site.form.code(number);
            // Outer switches open before inner ones and close behind them.
            edits.push((start, false, usize::MAX - (end - start), open));
            edits.push((end, true, end - start, close));
            number += 1;
        }
        // At one place, what ends there comes first.
        edits.sort_by_key(|(at, opens, size, _)| (*at, !*opens, *size));
        let (mut text, mut done) = (String::new(), 0);
        for (at, _, _, code) in edits {
            text.push_str(&source[done..at]);
            text.push_str(&code);
            done = at;
        }
        text.push_str(&source[done..]);
        std::fs::write(&path, text)?;
    }
    Ok(())
}

/// A decision that can be switched.
struct Site {
    range: Range<usize>,
    form: Form,
}

/// The form of a decision.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    /// A function that returns `bool`: its body.
    Function,
    /// A function that returns an `Option`: its body.
    Finder,
    /// A function without a result: its body.
    Pass,
    /// One side of `||`.
    Or,
    /// One side of `&&`.
    And,
    /// A condition, a guard, or a closure that answers yes or no.
    Condition,
    /// A condition with a pattern.
    Pattern,
    /// A call as a statement.
    Call,
    /// An alternative in `or_else`.
    Alternative,
}

impl Form {
    fn name(self) -> &'static str {
        match self {
            Form::Function => "function",
            Form::Finder => "finder",
            Form::Pass => "pass",
            Form::Or => "or",
            Form::And => "and",
            Form::Condition => "condition",
            Form::Pattern => "pattern",
            Form::Call => "call",
            Form::Alternative => "alternative",
        }
    }

    /// Whether it can be held at true, and at false.
    fn values(self) -> (bool, bool) {
        let is_answer = matches!(
            self,
            Form::Function | Form::Or | Form::And | Form::Condition
        );
        (is_answer, true)
    }

    /// The code before and behind it.
    fn code(self, number: usize) -> (String, String) {
        match self {
            Form::Function => (
                format!("{{crate::switch::of({number},||->bool"),
                ")}".into(),
            ),
            Form::Finder => (
                format!("{{if!crate::switch::on({number}){{return None;}}"),
                "}".into(),
            ),
            Form::Pass => (
                format!("{{if!crate::switch::on({number}){{return;}}"),
                "}".into(),
            ),
            Form::Pattern => (format!("crate::switch::on({number})&&"), String::new()),
            Form::Call => (format!("if crate::switch::on({number}){{"), "}".into()),
            Form::Alternative => (
                format!("if!crate::switch::on({number}){{None}}else{{"),
                "}".into(),
            ),
            _ => (format!("crate::switch::value({number},"), ")".into()),
        }
    }
}

#[derive(Default)]
struct Sites {
    all: Vec<Site>,
}

impl Sites {
    fn add(&mut self, node: &impl Spanned, form: Form) {
        let range = node.span().byte_range();
        if !self.all.iter().any(|site| site.range == range) {
            self.all.push(Site { range, form });
        }
    }

    fn function(&mut self, signature: &syn::Signature, block: &syn::Block) {
        let text = |node: &syn::Type| match node {
            syn::Type::Path(path) => path.path.segments.last().map(|one| one.ident.to_string()),
            _ => None,
        };
        match &signature.output {
            syn::ReturnType::Default => self.add(block, Form::Pass),
            syn::ReturnType::Type(_, kind) => match text(kind).as_deref() {
                Some("bool") => self.add(block, Form::Function),
                Some("Option") => self.add(block, Form::Finder),
                _ => {}
            },
        }
    }

    /// Adds an expression that is a `bool`, unless it binds names.
    fn condition(&mut self, expression: &syn::Expr, form: Form) {
        match expression {
            syn::Expr::Let(_) | syn::Expr::Lit(_) => {}
            syn::Expr::Paren(inner) => self.condition(&inner.expr, form),
            _ if has_let(expression) => {}
            _ => self.add(expression, form),
        }
    }
}

fn has_let(expression: &syn::Expr) -> bool {
    match expression {
        syn::Expr::Let(_) => true,
        syn::Expr::Binary(both) => has_let(&both.left) || has_let(&both.right),
        _ => false,
    }
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|one| {
        one.path().is_ident("test")
            || one.path().is_ident("cfg")
                && matches!(&one.meta, syn::Meta::List(list) if list.tokens.to_string() == "test")
    })
}

impl<'ast> Visit<'ast> for Sites {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_test(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if !is_test(&item.attrs) && item.sig.constness.is_none() {
            self.function(&item.sig, &item.block);
            visit::visit_block(self, &item.block);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !is_test(&item.attrs) && item.sig.constness.is_none() {
            self.function(&item.sig, &item.block);
            visit::visit_block(self, &item.block);
        }
    }

    fn visit_item_const(&mut self, _: &'ast syn::ItemConst) {}

    fn visit_item_static(&mut self, _: &'ast syn::ItemStatic) {}

    fn visit_item_macro(&mut self, _: &'ast syn::ItemMacro) {}

    fn visit_stmt(&mut self, statement: &'ast syn::Stmt) {
        if let syn::Stmt::Expr(
            expression @ (syn::Expr::Call(_) | syn::Expr::MethodCall(_)),
            Some(_),
        ) = statement
        {
            self.add(expression, Form::Call);
        }
        visit::visit_stmt(self, statement);
    }

    fn visit_expr_binary(&mut self, both: &'ast syn::ExprBinary) {
        let form = match both.op {
            syn::BinOp::Or(_) => Some(Form::Or),
            syn::BinOp::And(_) => Some(Form::And),
            _ => None,
        };
        if let Some(form) = form {
            for side in [&both.left, &both.right] {
                self.condition(side, form);
            }
        }
        visit::visit_expr_binary(self, both);
    }

    fn visit_expr_if(&mut self, branch: &'ast syn::ExprIf) {
        if has_let(&branch.cond) {
            self.add(&branch.cond, Form::Pattern);
        }
        self.condition(&branch.cond, Form::Condition);
        visit::visit_expr_if(self, branch);
    }

    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        if let Some((_, guard)) = &arm.guard {
            self.condition(guard, Form::Condition);
        }
        visit::visit_arm(self, arm);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        let name = call.method.to_string();
        if let Some(syn::Expr::Closure(closure)) = call.args.last() {
            if ASKING.contains(&name.as_str()) {
                self.condition(&closure.body, Form::Condition);
            }
            if name == "or_else" && closure.inputs.is_empty() {
                self.add(&closure.body, Form::Alternative);
            }
        }
        if matches!(name.as_str(), "then" | "then_some") {
            self.condition(&call.receiver, Form::Condition);
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_local(&mut self, local: &'ast syn::Local) {
        if let (syn::Pat::Ident(name), Some(init)) = (&local.pat, &local.init) {
            let name = name.ident.to_string();
            let is_answer = ["is_", "has_", "are_"]
                .iter()
                .any(|start| name.starts_with(start));
            match &*init.expr {
                syn::Expr::Closure(closure) if is_answer => {
                    self.condition(&closure.body, Form::Condition)
                }
                syn::Expr::MethodCall(_)
                | syn::Expr::Call(_)
                | syn::Expr::Binary(_)
                | syn::Expr::Unary(_)
                | syn::Expr::Macro(_)
                    if is_answer =>
                {
                    self.condition(&init.expr, Form::Condition)
                }
                _ => {}
            }
        }
        visit::visit_local(self, local);
    }
}

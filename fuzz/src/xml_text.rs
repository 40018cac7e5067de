//! Target `xml`: any text as xml, any text as XQuery over it.
//!
//! ```text
//! 1  source: text, code page or bytes, and the options of parsing
//! …  the document, a zero, the expression
//! ```
//!
//! Promises
//!  1. Any bytes become a value or an error of XML; what was printed parses again, and prints the
//!     same.
//!  2. Any expression is read or refused, for every method; a run ends when it is told to.
//!  3. What query() and modify() give is well formed.

use base::{SqlError, messages};
use types::{SqlType, Value};
use xml::{ParseOptions, Source, Xml};
use xquery::{Method, Query, Setting, SqlName};

/// Questions whether to stop before a run is stopped.
const QUESTIONS: u32 = 20;

/// Parses a document, and runs an expression over it.
pub(crate) fn run(data: &[u8]) {
    let (mode, rest) = data.split_first().unwrap_or((&0, &[]));
    let mut parts = rest.splitn(2, |&b| b == 0);
    let (document, expression) = (parts.next().unwrap_or(&[]), parts.next().unwrap_or(&[]));
    let text = String::from_utf8_lossy(document);
    let source = match mode % 3 {
        0 => Source::Wide(&text),
        1 => Source::Narrow(document),
        _ => Source::Bytes(document),
    };
    let options = ParseOptions { preserve: mode & 4 != 0, dtd: mode & 8 != 0 };
    let value = match Xml::parse(source, options) {
        Ok(value) => {
            printed(&value);
            value
        }
        Err(error) => {
            let known = matches!(error.number(), 6335 | 6359 | 7119 | 9400..=9460 | 40517);
            assert!(known, "{} is no error of XML", error.number());
            Xml::of_printed("<r a=\"1\"><b>x</b>text<!-- c --><b k=\"2\"/></r>")
        }
    };
    let expression = String::from_utf8_lossy(expression);
    for method in [Method::Query, Method::Value, Method::Exist, Method::Nodes, Method::Modify] {
        asks(&value, &expression, method);
    }
}

/// A value's text is one, and the same again.
fn printed(value: &Xml) {
    let text = value.text().into_owned();
    let options = ParseOptions { preserve: true, dtd: false };
    let again = Xml::parse(Source::Wide(&text), options);
    let again = again.unwrap_or_else(|e| panic!("{text:?} was printed: {}", e.text()));
    assert_eq!(again.text(), text, "what was printed prints the same");
}

fn asks(value: &Xml, expression: &str, method: Method) {
    let namespaces = [("n".into(), "urn:n".into())];
    let setting = Setting { method, subject: "t.x", namespaces: &namespaces, at_node: false };
    let mut types = Vec::new();
    let mut resolve = |name: &SqlName| {
        let is_xml = matches!(name, SqlName::Column(c) if **c == *"x");
        types.push(if is_xml { SqlType::Xml } else { SqlType::Int });
        Ok(types.last().copied().unwrap_or(SqlType::Int))
    };
    let Ok(query) = Query::read(expression, &setting, &mut resolve) else { return };
    let values: Vec<Value> = types
        .iter()
        .map(|t| if *t == SqlType::Xml { Value::Xml(value.clone()) } else { Value::Int(2) })
        .collect();
    let mut asked = 0;
    let mut stop = || {
        asked += 1;
        match asked > QUESTIONS {
            true => Err(SqlError::new(messages::INTERNAL, &[&"stopped"])),
            false => Ok(()),
        }
    };
    match method {
        Method::Query => {
            if let Ok(result) = query.query(value, &values, &types, &mut stop) {
                printed(&result);
            }
        }
        Method::Modify => {
            if let Ok(result) = query.modify(value, &values, &types, &mut stop) {
                printed(&result);
            }
        }
        Method::Value => drop(query.value(value, &values, &types, &mut stop)),
        Method::Exist => drop(query.exist(value, &values, &types, &mut stop)),
        Method::Nodes => {
            if let Ok(nodes) = query.nodes(value, &values, &types, &mut stop) {
                for node in nodes.into_iter().take(8) {
                    printed_node(&value.at(node));
                }
            }
        }
    }
}

fn printed_node(value: &Xml) {
    let _ = value.text();
    let mut stored = Vec::new();
    value.encode(&mut stored);
    assert_eq!(Xml::decode(&stored).as_ref(), Ok(value), "a node is read as it was stored");
}

/// Documents and expressions of the golden scripts.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let seed = |mode: u8, document: &str, expression: &str| {
        [&[mode], document.as_bytes(), &[0], expression.as_bytes()].concat()
    };
    let mut seeds = vec![
        seed(0, "<a>", ""),
        seed(1, "<?xml version='1.0' encoding='utf-8'?><a/>", "/a"),
        seed(12, "<!DOCTYPE a [<!ENTITY e 'x'>]><a> <b/>&e;</a>", "//b"),
        seed(0, &format!("{}{}", "<a>".repeat(130), "</a>".repeat(130)), "//a"),
        seed(0, "<a/>", &"(".repeat(300)),
    ];
    let quoted = |text: &str| -> Vec<String> {
        text.split('\'').skip(1).step_by(2).map(str::to_owned).collect()
    };
    for statement in crate::text::statements() {
        let literals = quoted(&statement);
        let Some(document) = literals.iter().find(|l| l.starts_with('<')) else { continue };
        let expressions = literals.iter().filter(|l| !std::ptr::eq(*l, document));
        seeds.extend(expressions.map(|e| seed(0, document, e)));
    }
    seeds.truncate(400);
    seeds
}

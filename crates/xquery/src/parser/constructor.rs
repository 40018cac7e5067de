//! Constructors: `<a b="{…}">…</a>`, `element a {…}`, `attribute b {…}`, `text {…}`.

use super::{Parser, TypedExpr};
use crate::atomic::Atomic;
use crate::statics::{ItemType, Occurs, Static};
use crate::tree::{AttributeValue, Element, Expr, QName};
use base::{SqlResult, messages};

/// An attribute as written: prefix, local name, value.
type WrittenAttribute = (String, String, AttributeValue);

impl Parser<'_, '_> {
    fn made(expr: Expr) -> TypedExpr {
        TypedExpr::new(expr, Static::new(ItemType::Constructed, Occurs::One))
    }

    /// At `<`.
    pub(super) fn direct(&mut self) -> SqlResult<TypedExpr> {
        let rest = self.scan.rest();
        if rest.starts_with("<!--") {
            return Ok(Self::made(self.comment()?));
        }
        if rest.starts_with("<?") {
            return Ok(Self::made(self.instruction()?));
        }
        if rest.starts_with("<!") {
            return self.scan.syntax();
        }
        let element = self.nested(Self::element)?;
        Ok(Self::made(element))
    }

    fn comment(&mut self) -> SqlResult<Expr> {
        self.scan.at += "<!--".len();
        let Some((text, _)) = self.scan.rest().split_once("-->") else {
            self.scan.at = self.scan.text.len();
            return self.scan.syntax();
        };
        if text.contains("--") || text.ends_with('-') || !text.chars().all(xml::is_xml_char) {
            return self.scan.error(messages::XQUERY_COMMENT, &[]);
        }
        self.scan.at += text.len() + "-->".len();
        Ok(Expr::Comment(text.into()))
    }

    fn instruction(&mut self) -> SqlResult<Expr> {
        self.scan.at += "<?".len();
        let Some(target) = self.scan.eat_name() else { return self.scan.syntax() };
        if target.eq_ignore_ascii_case("xml") {
            return self.scan.error(messages::XQUERY_UNSUPPORTED, &[&"<?xml"]);
        }
        let Some((text, _)) = self.scan.rest().split_once("?>") else {
            self.scan.at = self.scan.text.len();
            return self.scan.syntax();
        };
        let data = text.trim_start();
        if (data.len() == text.len() && !data.is_empty()) || !data.chars().all(xml::is_xml_char) {
            return self.scan.syntax();
        }
        self.scan.at += text.len() + "?>".len();
        Ok(Expr::Instruction(target.into(), data.into()))
    }

    fn element(&mut self) -> SqlResult<Expr> {
        self.scan.at += 1;
        let (prefix, local) = self.lexical()?;
        let around = self.namespaces.len();
        let mut written: Vec<WrittenAttribute> = Vec::new();
        let mut namespaces = Vec::new();
        loop {
            let before = self.scan.at;
            self.blanks();
            match self.scan.peek() {
                Some('/' | '>') => break,
                _ if self.scan.at == before => return self.scan.syntax(),
                _ => {}
            }
            let (prefix, local) = self.lexical()?;
            self.blanks();
            if self.scan.peek() != Some('=') {
                return self.scan.syntax();
            }
            self.scan.at += 1;
            self.blanks();
            let value = self.attribute_value()?;
            let declared = match (prefix.as_str(), local.as_str()) {
                ("", "xmlns") => Some(""),
                ("xmlns", prefix) => Some(prefix),
                _ => None,
            };
            match (declared, &value) {
                (Some(prefix), AttributeValue::Text(uri)) => {
                    let binding: (Box<str>, Box<str>) = (prefix.into(), uri.as_str().into());
                    self.namespaces.push(binding.clone());
                    namespaces.push(binding);
                }
                (Some(_), AttributeValue::Computed(_)) => return self.scan.syntax(),
                (None, _) => written.push((prefix, local, value)),
            }
        }
        let name = self.named(&prefix, &local, true)?;
        let attributes = self.attributes(written)?;
        let content = match self.scan.rest().starts_with("/>") {
            true => {
                self.scan.at += "/>".len();
                Vec::new()
            }
            false => {
                self.scan.expect(">")?;
                let content = self.content()?;
                self.end_tag(&prefix, &local)?;
                content
            }
        };
        self.namespaces.truncate(around);
        Ok(Expr::Element(Box::new(Element { name, namespaces, attributes, content })))
    }

    fn attributes(
        &self,
        written: Vec<WrittenAttribute>,
    ) -> SqlResult<Vec<(QName, AttributeValue)>> {
        let mut all: Vec<(QName, AttributeValue)> = Vec::with_capacity(written.len());
        for (prefix, local, value) in written {
            let name = self.named(&prefix, &local, false)?;
            if all.iter().any(|(n, _)| n.local == name.local && n.uri == name.uri) {
                return Err(base::SqlError::new(messages::XML_ATTRIBUTE_TWICE, &[&local]));
            }
            all.push((name, value));
        }
        Ok(all)
    }

    fn blanks(&mut self) {
        let rest = self.scan.rest();
        self.scan.at += rest.find(|c: char| !c.is_ascii_whitespace()).unwrap_or(rest.len());
    }

    /// In quotes: characters, or one expression in braces.
    fn attribute_value(&mut self) -> SqlResult<AttributeValue> {
        let Some(quote @ ('"' | '\'')) = self.scan.peek() else { return self.scan.syntax() };
        self.scan.at += 1;
        let (mut text, mut computed) = (String::new(), None);
        loop {
            let rest = self.scan.rest();
            let Some(c) = rest.chars().next() else { return self.scan.syntax() };
            let doubled = rest.chars().nth(1) == Some(c);
            match c {
                '{' if !doubled => {
                    if computed.is_some() || !text.is_empty() {
                        return self.scan.error(messages::XQUERY_ATTRIBUTE_MIXED, &[]);
                    }
                    computed = Some(self.enclosed_value()?);
                    continue;
                }
                '}' if !doubled => return self.scan.syntax(),
                '<' => return self.scan.syntax(),
                '&' => {
                    text.push(self.scan.reference()?);
                    continue;
                }
                c if c == quote && !doubled => {
                    self.scan.at += 1;
                    break;
                }
                '{' | '}' => self.scan.at += 1,
                c if c == quote => self.scan.at += 1,
                c if !xml::is_xml_char(c) => return self.scan.syntax(),
                _ => {}
            }
            self.scan.at += c.len_utf8();
            text.push(if c.is_ascii_whitespace() { ' ' } else { c });
        }
        match computed {
            None => Ok(AttributeValue::Text(text)),
            Some(value) if text.is_empty() => Ok(AttributeValue::Computed(value)),
            Some(_) => self.scan.error(messages::XQUERY_ATTRIBUTE_MIXED, &[]),
        }
    }

    /// `{…}` whose values count.
    fn enclosed_value(&mut self) -> SqlResult<Expr> {
        let inner = self.enclosed()?;
        self.values(&inner.ty)?;
        Ok(inner.expr)
    }

    fn enclosed(&mut self) -> SqlResult<TypedExpr> {
        self.scan.expect("{")?;
        let inner = self.nested(Self::sequence)?;
        self.scan.expect("}")?;
        Ok(inner)
    }

    /// What stands between the tags.
    fn content(&mut self) -> SqlResult<Vec<Expr>> {
        let mut content = Vec::new();
        // Characters since the last tag or brace, and whether they are more than white space.
        let (mut text, mut significant) = (String::new(), false);
        let flush = |text: &mut String, significant: &mut bool, content: &mut Vec<Expr>| {
            if *significant {
                content.push(Expr::Characters(text.as_str().into()));
            }
            text.clear();
            *significant = false;
        };
        loop {
            let rest = self.scan.rest();
            let Some(c) = rest.chars().next() else { return self.scan.syntax() };
            let doubled = rest.chars().nth(1) == Some(c);
            if let Some(tail) = rest.strip_prefix("<![CDATA[") {
                let Some((inner, _)) = tail.split_once("]]>") else { return self.scan.syntax() };
                if !inner.chars().all(xml::is_xml_char) {
                    return self.scan.syntax();
                }
                text.push_str(inner);
                significant = true;
                self.scan.at += "<![CDATA[".len() + inner.len() + "]]>".len();
                continue;
            }
            match c {
                '<' => {
                    flush(&mut text, &mut significant, &mut content);
                    if rest.starts_with("</") {
                        return Ok(content);
                    }
                    content.push(self.direct()?.expr);
                    continue;
                }
                '{' if !doubled => {
                    flush(&mut text, &mut significant, &mut content);
                    content.push(self.enclosed()?.expr);
                    continue;
                }
                '}' if !doubled => return self.scan.syntax(),
                '&' => {
                    text.push(self.scan.reference()?);
                    significant = true;
                    continue;
                }
                '{' | '}' => self.scan.at += 1,
                c if !xml::is_xml_char(c) => return self.scan.syntax(),
                _ => {}
            }
            self.scan.at += c.len_utf8();
            text.push(c);
            significant |= !c.is_ascii_whitespace();
        }
    }

    fn end_tag(&mut self, prefix: &str, local: &str) -> SqlResult<()> {
        self.scan.at += "</".len();
        let from = self.scan.at;
        let (p, l) = self.lexical()?;
        if p != prefix || l != local {
            self.scan.at = from;
            return self.scan.syntax();
        }
        self.blanks();
        self.scan.expect(">")
    }

    /// Behind a word that calls nothing: a computed constructor, or an error.
    pub(super) fn computed(&mut self, word: &str) -> SqlResult<TypedExpr> {
        let brace = self.scan.peek() == Some('{');
        match word {
            "comment" if brace => self.scan.error(messages::XQUERY_COMPUTED_COMMENT, &[]),
            "processing-instruction" => self.scan.error(messages::XQUERY_COMPUTED_INSTRUCTION, &[]),
            "element" | "attribute" if brace => {
                self.scan.error(messages::XQUERY_NAME_CONSTANT, &[])
            }
            "text" if brace => {
                let value = self.enclosed_value()?;
                Ok(Self::made(Expr::Text(Box::new(value))))
            }
            "element" => {
                let (prefix, local) = self.lexical()?;
                let name = self.named(&prefix, &local, true)?;
                let content = self.computed_content()?;
                let content = content.map_or_else(Vec::new, |c| vec![c.expr]);
                let (namespaces, attributes) = (Vec::new(), Vec::new());
                let element = Element { name, namespaces, attributes, content };
                Ok(Self::made(Expr::Element(Box::new(element))))
            }
            "attribute" => {
                let (prefix, local) = self.lexical()?;
                if prefix == "xmlns" || local == "xmlns" {
                    return self.scan.error(messages::XQUERY_UNSUPPORTED, &[&"xmlns"]);
                }
                let name = self.named(&prefix, &local, false)?;
                let value = match self.computed_content()? {
                    Some(inner) => {
                        self.values(&inner.ty)?;
                        inner.expr
                    }
                    None => Expr::Literal(Atomic::Text(String::new())),
                };
                let ty = Static::new(ItemType::Attribute(Some(local.into())), Occurs::One);
                Ok(TypedExpr::new(Expr::Attribute(Box::new((name, value))), ty))
            }
            _ => self.scan.syntax(),
        }
    }

    /// `{…}`, which may be empty.
    fn computed_content(&mut self) -> SqlResult<Option<TypedExpr>> {
        let from = self.scan.at;
        self.scan.expect("{")?;
        if self.scan.eat("}")? {
            return Ok(None);
        }
        self.scan.at = from;
        self.enclosed().map(Some)
    }
}

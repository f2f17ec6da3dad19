//! JSON values with their paths, for clear error messages.

use serde_json::Value as Json;

/// A value and its path, such as `response.content.size`.
#[derive(Debug, Clone)]
pub(super) struct Node<'a> {
    value: &'a Json,
    path: String,
}

impl<'a> Node<'a> {
    pub(super) fn root(value: &'a Json) -> Node<'a> {
        Node { value, path: String::new() }
    }

    /// The member with this name; `None` if it is absent or null.
    pub(super) fn get(&self, name: &str) -> Option<Node<'a>> {
        let value = self.value.get(name).filter(|value| !value.is_null())?;
        let path = if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) };
        Some(Node { value, path })
    }
    /// The member with this name, which must exist.
    pub(super) fn need(&self, name: &str) -> Result<Node<'a>, String> {
        let at = if self.path.is_empty() { String::new() } else { format!("{}.", self.path) };
        self.get(name).ok_or_else(|| format!("no {at}{name}"))
    }

    /// The items of a list, such as `headers[0]`.
    pub(super) fn items(&self) -> Result<Vec<Node<'a>>, String> {
        let place = |(at, value)| Node { value, path: format!("{}[{at}]", self.path) };
        Ok(self.list()?.iter().enumerate().map(place).collect())
    }
    /// The items of a list, each with an empty path.
    pub(super) fn roots(&self) -> Result<impl Iterator<Item = Node<'a>> + use<'a>, String> {
        Ok(self.list()?.iter().map(Node::root))
    }
    fn list(&self) -> Result<&'a [Json], String> {
        self.value.as_array().map(Vec::as_slice).ok_or_else(|| self.wrong("a list"))
    }
    pub(super) fn text(&self) -> Result<&'a str, String> {
        self.value.as_str().ok_or_else(|| self.wrong("text"))
    }
    /// An integer, which may be written with a fraction of zero.
    pub(super) fn whole(&self) -> Result<i64, String> {
        let number = self.number()?;
        // 2^53: beyond it a double is no longer exact.
        if number.fract() == 0.0 && number.abs() <= 9_007_199_254_740_992.0 {
            return Ok(number as i64);
        }
        Err(self.wrong("a whole number"))
    }
    /// Whether it is more than `false`, `0` or an empty text, or a text that says so.
    pub(super) fn is_something(&self) -> bool {
        let is_no = |text: &str| {
            ["", "0", "false", "no", "none", "null"].contains(&text.trim().to_ascii_lowercase().as_str())
        };
        !matches!(self.value, Json::Bool(false))
            && self.value.as_f64() != Some(0.0)
            && !self.value.as_str().is_some_and(is_no)
    }
    pub(super) fn is_object(&self) -> bool {
        self.value.is_object()
    }
    pub(super) fn is_true(&self) -> bool {
        self.value.as_bool() == Some(true)
    }
    /// A number, which may be written as text.
    pub(super) fn number(&self) -> Result<f64, String> {
        let of_text = || self.value.as_str()?.trim().parse().ok().filter(|number: &f64| number.is_finite());
        self.value.as_f64().or_else(of_text).ok_or_else(|| self.wrong("a number"))
    }
    /// A text, or a number as a text: something that others refer to.
    pub(super) fn name(&self) -> Option<String> {
        match self.value {
            Json::String(text) => Some(text.clone()),
            Json::Number(number) => Some(number.to_string()),
            _ => None,
        }
    }

    pub(super) fn wrong(&self, expected: &str) -> String {
        let found = match self.value {
            Json::Null => "null".to_owned(),
            Json::Bool(value) => value.to_string(),
            Json::Number(value) => value.to_string(),
            Json::String(text) => crate::file::quoted(text),
            Json::Array(_) => "a list".to_owned(),
            Json::Object(_) => "an object".to_owned(),
        };
        format!("{} is {found}; expected {expected}", self.path)
    }
}

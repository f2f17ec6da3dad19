//! Texts by number, since packets share a few of them.

use std::collections::BTreeMap;

/// Texts, numbered in the order in which they come.
#[derive(Clone, Debug, Default)]
pub(crate) struct Words {
    texts: Vec<String>,
    numbers: BTreeMap<String, u32>,
}

impl Words {
    /// The number of a text.
    pub(crate) fn number(&mut self, text: &str) -> u32 {
        if let Some(&number) = self.numbers.get(text) {
            return number;
        }
        let number = self.texts.len() as u32;
        self.texts.push(text.to_owned());
        self.numbers.insert(text.to_owned(), number);
        number
    }

    /// The text of a number.
    pub(crate) fn text(&self, number: u32) -> &str {
        &self.texts[number as usize]
    }

    /// All texts.
    pub(crate) fn into_texts(self) -> Vec<String> {
        self.texts
    }
}

//! The session's language: SET LANGUAGE, the language at login, and the messages to the client
//! about it.
//!
//! A language sets its DATEFORMAT and DATEFIRST, except those that the batch has set before. Within
//! EXEC and procedures no message is sent, because their settings end with them.

use crate::answer::failure::Failure;
use crate::answer::output::Output;
use crate::answer::sink::EnvironmentChange;
use crate::session::state::State;
use crate::session::{LanguageRefusal, Session};
use base::{SqlError, SqlResult, messages};
use types::datetime::Language;

/// Message 5703 in the languages that have messages of their own, by their locales.
const CHANGED: [(i16, &str); 21] = [
    (1028, "已將語言設定變更為 {}。"),
    (1029, "Nastavení jazyka bylo změněno na {}."),
    (1030, "Sprogindstillingen blev ændret til {}."),
    (1031, "Die Spracheneinstellung wurde in {} geändert."),
    (1032, "Η ρύθμιση γλώσσας άλλαξε σε {}."),
    (1035, "Kieliasetukseksi muutettiin {}."),
    (1036, "Le paramètre de langue est passé à {}."),
    (1038, "Nyelvi beállítás átállítva a következőre: {}."),
    (1040, "L'impostazione della lingua è stata sostituita con {}."),
    (1041, "言語設定が {} に変更されました。"),
    (1042, "언어 설정이 {}(으)로 변경되었습니다."),
    (1043, "De taalinstelling is gewijzigd in {}."),
    (1044, "Endret språkinnstilling til {}."),
    (1045, "Zmieniono ustawienia języka na {}."),
    (1046, "Definição do idioma alterada para {}."),
    (1049, "Язык изменен на {}."),
    (1053, "Ändrade språkinställningen till {}."),
    (1055, "Dil ayarı '{}' olarak değiştirildi."),
    (2052, "已将语言设置更改为 {}。"),
    (2070, "A definição de idioma foi alterada para {}."),
    (3082, "Se cambió la configuración de idioma a {}."),
];

/// Message 5703 in the session's new language.
fn changed(language: &Language) -> SqlError {
    let message = messages::LANGUAGE_CHANGED;
    let own = CHANGED.iter().find(|(locale, _)| *locale == language.messages);
    match own {
        Some((_, text)) => {
            let text = text.replace("{}", language.name);
            SqlError::raw(message.number, message.severity, 1, text)
        }
        None => SqlError::new(message, &[&language.name]),
    }
}

impl Session {
    /// SET LANGUAGE
    pub(crate) fn set_language(
        &mut self,
        name: &str,
        line: u32,
        out: &mut Output<'_>,
    ) -> Result<(), Failure> {
        let Some(language) = Language::by_name(name) else {
            return Err(SqlError::new(messages::LANGUAGE_UNKNOWN, &[&name]).into());
        };
        let old = self.state.settings.speak(language);
        if self.state.nesting.level == 0 {
            self.state.tell_language(old.name, line, out);
        }
        Ok(())
    }

    /// Sets the language that a login asks for. Each reset of the session restores it.
    ///
    /// # Errors
    /// 4019 if it is unknown and the client accepts no other.
    pub(crate) fn take_language(&mut self, asked: &str, fatal: bool) -> SqlResult<()> {
        match Language::by_name(asked) {
            Some(language) => self.login.language = language,
            None if asked.is_empty() => {}
            None if fatal => {
                return Err(SqlError::new(messages::LOGIN_LANGUAGE_FAILS, &[&asked]));
            }
            None => self.login.refused = LanguageRefusal::Told(asked.to_owned()),
        }
        self.state.settings.speak(self.login.language);
        Ok(())
    }

    /// Message 4016, for a client that asked for an unknown language and accepts another.
    pub(crate) fn tell_refused_language(&mut self, out: &mut Output<'_>) {
        if let LanguageRefusal::Told(asked) =
            std::mem::replace(&mut self.login.refused, LanguageRefusal::Nothing)
        {
            let used = self.login.language.name;
            out.message(&SqlError::new(messages::LOGIN_LANGUAGE_DEFAULT, &[&asked, &used]));
        }
    }
}

impl State {
    /// Tells the client the session's language.
    pub(crate) fn tell_language(&self, old: &str, line: u32, out: &mut Output<'_>) {
        let language = self.settings.language;
        let (new, old) = (language.name.to_owned(), old.to_owned());
        out.environment(&EnvironmentChange::Language { new, old });
        out.message(&changed(language).at_line(line));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_with_messages_say_5703_in_their_words() {
        for (locale, text) in CHANGED {
            let language = Language::all().iter().find(|l| l.messages == locale);
            let language = language.expect("a language has these messages");
            assert_eq!(changed(language).text(), text.replace("{}", language.name));
            assert_eq!((changed(language).number(), changed(language).severity()), (5703, 10));
        }
        for name in ["Norsk", "British", "Thai", "us_english"] {
            let language = Language::by_name(name).expect("it is listed");
            let english = format!("Changed language setting to {}.", language.name);
            assert_eq!(changed(language).text(), english, "it has no messages of its own");
        }
    }
}

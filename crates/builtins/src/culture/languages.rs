//! Names of months and days, as .NET Framework gives them.

use super::Language;

pub(super) const ENGLISH: Language = Language {
    months: "January|February|March|April|May|June|July|August|September|October|November|\
        December",
    months_of_day: "",
    months_short: "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec",
    days: "Sunday|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday",
    days_short: "Sun|Mon|Tue|Wed|Thu|Fri|Sat",
    halves: ("AM", "PM"),
};

pub(super) const GERMAN: Language = Language {
    months: "Januar|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember",
    months_of_day: "",
    months_short: "Jan|Feb|Mrz|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez",
    days: "Sonntag|Montag|Dienstag|Mittwoch|Donnerstag|Freitag|Samstag",
    days_short: "So|Mo|Di|Mi|Do|Fr|Sa",
    halves: ("", ""),
};

pub(super) const FRENCH: Language = Language {
    months: "janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|\
        décembre",
    months_of_day: "",
    months_short: "janv.|févr.|mars|avr.|mai|juin|juil.|août|sept.|oct.|nov.|déc.",
    days: "dimanche|lundi|mardi|mercredi|jeudi|vendredi|samedi",
    days_short: "dim.|lun.|mar.|mer.|jeu.|ven.|sam.",
    halves: ("", ""),
};

pub(super) const SPANISH: Language = Language {
    months: "enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|\
        diciembre",
    months_of_day: "",
    months_short: "ene.|feb.|mar.|abr.|may.|jun.|jul.|ago.|sep.|oct.|nov.|dic.",
    days: "domingo|lunes|martes|miércoles|jueves|viernes|sábado",
    days_short: "do.|lu.|ma.|mi.|ju.|vi.|sá.",
    halves: ("", ""),
};

pub(super) const MEXICAN: Language = Language {
    months: "enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|\
        diciembre",
    months_of_day: "",
    months_short: "ene.|feb.|mar.|abr.|may.|jun.|jul.|ago.|sep.|oct.|nov.|dic.",
    days: "domingo|lunes|martes|miércoles|jueves|viernes|sábado",
    days_short: "dom.|lun.|mar.|mié.|jue.|vie.|sáb.",
    halves: ("a. m.", "p. m."),
};

pub(super) const ITALIAN: Language = Language {
    months: "gennaio|febbraio|marzo|aprile|maggio|giugno|luglio|agosto|settembre|ottobre|\
        novembre|dicembre",
    months_of_day: "",
    months_short: "gen|feb|mar|apr|mag|giu|lug|ago|set|ott|nov|dic",
    days: "domenica|lunedì|martedì|mercoledì|giovedì|venerdì|sabato",
    days_short: "dom|lun|mar|mer|gio|ven|sab",
    halves: ("", ""),
};

pub(super) const PORTUGUESE: Language = Language {
    months: "janeiro|fevereiro|março|abril|maio|junho|julho|agosto|setembro|outubro|novembro|\
        dezembro",
    months_of_day: "",
    months_short: "jan|fev|mar|abr|mai|jun|jul|ago|set|out|nov|dez",
    days: "domingo|segunda-feira|terça-feira|quarta-feira|quinta-feira|sexta-feira|sábado",
    days_short: "dom|seg|ter|qua|qui|sex|sáb",
    halves: ("", ""),
};

pub(super) const DUTCH: Language = Language {
    months: "januari|februari|maart|april|mei|juni|juli|augustus|september|oktober|november|\
        december",
    months_of_day: "",
    months_short: "jan|feb|mrt|apr|mei|jun|jul|aug|sep|okt|nov|dec",
    days: "zondag|maandag|dinsdag|woensdag|donderdag|vrijdag|zaterdag",
    days_short: "zo|ma|di|wo|do|vr|za",
    halves: ("", ""),
};

pub(super) const SWEDISH: Language = Language {
    months: "januari|februari|mars|april|maj|juni|juli|augusti|september|oktober|november|\
        december",
    months_of_day: "",
    months_short: "jan|feb|mar|apr|maj|jun|jul|aug|sep|okt|nov|dec",
    days: "söndag|måndag|tisdag|onsdag|torsdag|fredag|lördag",
    days_short: "sön|mån|tis|ons|tor|fre|lör",
    halves: ("", ""),
};

pub(super) const DANISH: Language = Language {
    months: "januar|februar|marts|april|maj|juni|juli|august|september|oktober|november|\
        december",
    months_of_day: "",
    months_short: "jan|feb|mar|apr|maj|jun|jul|aug|sep|okt|nov|dec",
    days: "søndag|mandag|tirsdag|onsdag|torsdag|fredag|lørdag",
    days_short: "sø|ma|ti|on|to|fr|lø",
    halves: ("", ""),
};

pub(super) const NORWEGIAN: Language = Language {
    months: "januar|februar|mars|april|mai|juni|juli|august|september|oktober|november|desember",
    months_of_day: "",
    months_short: "jan|feb|mar|apr|mai|jun|jul|aug|sep|okt|nov|des",
    days: "søndag|mandag|tirsdag|onsdag|torsdag|fredag|lørdag",
    days_short: "sø|ma|ti|on|to|fr|lø",
    halves: ("", ""),
};

pub(super) const FINNISH: Language = Language {
    months: "tammikuu|helmikuu|maaliskuu|huhtikuu|toukokuu|kesäkuu|heinäkuu|elokuu|syyskuu|\
        lokakuu|marraskuu|joulukuu",
    months_of_day: "",
    months_short: "tammi|helmi|maalis|huhti|touko|kesä|heinä|elo|syys|loka|marras|joulu",
    days: "sunnuntai|maanantai|tiistai|keskiviikko|torstai|perjantai|lauantai",
    days_short: "su|ma|ti|ke|to|pe|la",
    halves: ("", ""),
};

pub(super) const POLISH: Language = Language {
    months: "styczeń|luty|marzec|kwiecień|maj|czerwiec|lipiec|sierpień|wrzesień|październik|\
        listopad|grudzień",
    months_of_day: "stycznia|lutego|marca|kwietnia|maja|czerwca|lipca|sierpnia|września|\
        października|listopada|grudnia",
    months_short: "sty|lut|mar|kwi|maj|cze|lip|sie|wrz|paź|lis|gru",
    days: "niedziela|poniedziałek|wtorek|środa|czwartek|piątek|sobota",
    days_short: "niedz.|pon.|wt.|śr.|czw.|pt.|sob.",
    halves: ("", ""),
};

pub(super) const CZECH: Language = Language {
    months: "leden|únor|březen|duben|květen|červen|červenec|srpen|září|říjen|listopad|prosinec",
    months_of_day: "ledna|února|března|dubna|května|června|července|srpna|září|října|listopadu|\
        prosince",
    months_short: "led|úno|bře|dub|kvě|čvn|čvc|srp|zář|říj|lis|pro",
    days: "neděle|pondělí|úterý|středa|čtvrtek|pátek|sobota",
    days_short: "ne|po|út|st|čt|pá|so",
    halves: ("dop.", "odp."),
};

pub(super) const RUSSIAN: Language = Language {
    months: "Январь|Февраль|Март|Апрель|Май|Июнь|Июль|Август|Сентябрь|Октябрь|Ноябрь|Декабрь",
    months_of_day: "января|февраля|марта|апреля|мая|июня|июля|августа|сентября|октября|ноября|декабря",
    months_short: "янв|фев|мар|апр|май|июн|июл|авг|сен|окт|ноя|дек",
    days: "воскресенье|понедельник|вторник|среда|четверг|пятница|суббота",
    days_short: "Вс|Пн|Вт|Ср|Чт|Пт|Сб",
    halves: ("", ""),
};

pub(super) const TURKISH: Language = Language {
    months: "Ocak|Şubat|Mart|Nisan|Mayıs|Haziran|Temmuz|Ağustos|Eylül|Ekim|Kasım|Aralık",
    months_of_day: "",
    months_short: "Oca|Şub|Mar|Nis|May|Haz|Tem|Ağu|Eyl|Eki|Kas|Ara",
    days: "Pazar|Pazartesi|Salı|Çarşamba|Perşembe|Cuma|Cumartesi",
    days_short: "Paz|Pzt|Sal|Çar|Per|Cum|Cmt",
    halves: ("ÖÖ", "ÖS"),
};

pub(super) const JAPANESE: Language = Language {
    months: "1月|2月|3月|4月|5月|6月|7月|8月|9月|10月|11月|12月",
    months_of_day: "",
    months_short: "1|2|3|4|5|6|7|8|9|10|11|12",
    days: "日曜日|月曜日|火曜日|水曜日|木曜日|金曜日|土曜日",
    days_short: "日|月|火|水|木|金|土",
    halves: ("午前", "午後"),
};

pub(super) const CHINESE: Language = Language {
    months: "一月|二月|三月|四月|五月|六月|七月|八月|九月|十月|十一月|十二月",
    months_of_day: "",
    months_short: "1月|2月|3月|4月|5月|6月|7月|8月|9月|10月|11月|12月",
    days: "星期日|星期一|星期二|星期三|星期四|星期五|星期六",
    days_short: "周日|周一|周二|周三|周四|周五|周六",
    halves: ("上午", "下午"),
};

pub(super) const TAIWANESE: Language = Language {
    months: "一月|二月|三月|四月|五月|六月|七月|八月|九月|十月|十一月|十二月",
    months_of_day: "",
    months_short: "一月|二月|三月|四月|五月|六月|七月|八月|九月|十月|十一月|十二月",
    days: "星期日|星期一|星期二|星期三|星期四|星期五|星期六",
    days_short: "週日|週一|週二|週三|週四|週五|週六",
    halves: ("上午", "下午"),
};

pub(super) const KOREAN: Language = Language {
    months: "1월|2월|3월|4월|5월|6월|7월|8월|9월|10월|11월|12월",
    months_of_day: "",
    months_short: "1|2|3|4|5|6|7|8|9|10|11|12",
    days: "일요일|월요일|화요일|수요일|목요일|금요일|토요일",
    days_short: "일|월|화|수|목|금|토",
    halves: ("오전", "오후"),
};

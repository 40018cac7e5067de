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
    months_of_day: "tammikuuta|helmikuuta|maaliskuuta|huhtikuuta|toukokuuta|kesäkuuta|heinäkuuta|\
        elokuuta|syyskuuta|lokakuuta|marraskuuta|joulukuuta",
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

pub(super) const HUNGARIAN: Language = Language {
    months: "január|február|március|április|május|június|július|augusztus|szeptember|október|\
        november|december",
    months_of_day: "",
    months_short: "jan.|febr.|márc.|ápr.|máj.|jún.|júl.|aug.|szept.|okt.|nov.|dec.",
    days: "vasárnap|hétfő|kedd|szerda|csütörtök|péntek|szombat",
    days_short: "V|H|K|Sze|Cs|P|Szo",
    halves: ("de.", "du."),
};

pub(super) const ROMANIAN: Language = Language {
    months: "ianuarie|februarie|martie|aprilie|mai|iunie|iulie|august|septembrie|octombrie|\
        noiembrie|decembrie",
    months_of_day: "",
    months_short: "ian.|feb.|mar.|apr.|mai|iun.|iul.|aug.|sept.|oct.|nov.|dec.",
    days: "duminică|luni|marți|miercuri|joi|vineri|sâmbătă",
    days_short: "dum.|lun.|mar.|mie.|joi|vin.|sâm.",
    halves: ("a.m.", "p.m."),
};

pub(super) const CROATIAN: Language = Language {
    months: "siječanj|veljača|ožujak|travanj|svibanj|lipanj|srpanj|kolovoz|rujan|listopad|\
        studeni|prosinac",
    months_of_day: "siječnja|veljače|ožujka|travnja|svibnja|lipnja|srpnja|kolovoza|rujna|\
        listopada|studenog|prosinca",
    months_short: "sij|vlj|ožu|tra|svi|lip|srp|kol|ruj|lis|stu|pro",
    days: "nedjelja|ponedjeljak|utorak|srijeda|četvrtak|petak|subota",
    days_short: "ned|pon|uto|sri|čet|pet|sub",
    halves: ("", ""),
};

pub(super) const SLOVAK: Language = Language {
    months: "január|február|marec|apríl|máj|jún|júl|august|september|október|november|december",
    months_of_day: "januára|februára|marca|apríla|mája|júna|júla|augusta|septembra|októbra|\
        novembra|decembra",
    months_short: "jan|feb|mar|apr|máj|jún|júl|aug|sep|okt|nov|dec",
    days: "nedeľa|pondelok|utorok|streda|štvrtok|piatok|sobota",
    days_short: "ne|po|ut|st|št|pi|so",
    halves: ("AM", "PM"),
};

pub(super) const SLOVENIAN: Language = Language {
    months: "januar|februar|marec|april|maj|junij|julij|avgust|september|oktober|november|\
        december",
    months_of_day: "",
    months_short: "jan.|feb.|mar.|apr.|maj|jun.|jul.|avg.|sep.|okt.|nov.|dec.",
    days: "nedelja|ponedeljek|torek|sreda|četrtek|petek|sobota",
    days_short: "ned.|pon.|tor.|sre.|čet.|pet.|sob.",
    halves: ("dop.", "pop."),
};

pub(super) const GREEK: Language = Language {
    months: "Ιανουάριος|Φεβρουάριος|Μάρτιος|Απρίλιος|Μάιος|Ιούνιος|Ιούλιος|Αύγουστος|Σεπτέμβριος|\
        Οκτώβριος|Νοέμβριος|Δεκέμβριος",
    months_of_day: "Ιανουαρίου|Φεβρουαρίου|Μαρτίου|Απριλίου|Μαΐου|Ιουνίου|Ιουλίου|Αυγούστου|\
        Σεπτεμβρίου|Οκτωβρίου|Νοεμβρίου|Δεκεμβρίου",
    months_short: "Ιαν|Φεβ|Μαρ|Απρ|Μαϊ|Ιουν|Ιουλ|Αυγ|Σεπ|Οκτ|Νοε|Δεκ",
    days: "Κυριακή|Δευτέρα|Τρίτη|Τετάρτη|Πέμπτη|Παρασκευή|Σάββατο",
    days_short: "Κυρ|Δευ|Τρι|Τετ|Πεμ|Παρ|Σαβ",
    halves: ("πμ", "μμ"),
};

pub(super) const BULGARIAN: Language = Language {
    months: "януари|февруари|март|април|май|юни|юли|август|септември|октомври|ноември|декември",
    months_of_day: "",
    months_short: "яну|фев|мар|апр|май|юни|юли|авг|сеп|окт|ное|дек",
    days: "неделя|понеделник|вторник|сряда|четвъртък|петък|събота",
    days_short: "нед|пон|вт|ср|четв|пет|съб",
    halves: ("", ""),
};

pub(super) const ESTONIAN: Language = Language {
    months: "jaanuar|veebruar|märts|aprill|mai|juuni|juuli|august|september|oktoober|november|\
        detsember",
    months_of_day: "",
    months_short: "jaan|veebr|märts|apr|mai|juuni|juuli|aug|sept|okt|nov|dets",
    days: "pühapäev|esmaspäev|teisipäev|kolmapäev|neljapäev|reede|laupäev",
    days_short: "P|E|T|K|N|R|L",
    halves: ("AM", "PM"),
};

pub(super) const LATVIAN: Language = Language {
    months: "janvāris|februāris|marts|aprīlis|maijs|jūnijs|jūlijs|augusts|septembris|oktobris|\
        novembris|decembris",
    months_of_day: "",
    months_short: "janv.|febr.|marts|apr.|maijs|jūn.|jūl.|aug.|sept.|okt.|nov.|dec.",
    days: "svētdiena|pirmdiena|otrdiena|trešdiena|ceturtdiena|piektdiena|sestdiena",
    days_short: "svētd.|pirmd.|otrd.|trešd.|ceturtd.|piektd.|sestd.",
    halves: ("priekšp.", "pēcp."),
};

pub(super) const LITHUANIAN: Language = Language {
    months: "sausis|vasaris|kovas|balandis|gegužė|birželis|liepa|rugpjūtis|rugsėjis|spalis|\
        lapkritis|gruodis",
    months_of_day: "sausio|vasario|kovo|balandžio|gegužės|birželio|liepos|rugpjūčio|rugsėjo|\
        spalio|lapkričio|gruodžio",
    months_short: "saus.|vas.|kov.|bal.|geg.|birž.|liep.|rugp.|rugs.|spal.|lapkr.|gruod.",
    days: "sekmadienis|pirmadienis|antradienis|trečiadienis|ketvirtadienis|penktadienis|\
        šeštadienis",
    days_short: "sk|pr|an|tr|kt|pn|št",
    halves: ("priešpiet", "popiet"),
};

pub(super) const NYNORSK: Language = Language {
    months: "januar|februar|mars|april|mai|juni|juli|august|september|oktober|november|desember",
    months_of_day: "",
    months_short: "jan|feb|mar|apr|mai|jun|jul|aug|sep|okt|nov|des",
    days: "søndag|måndag|tysdag|onsdag|torsdag|fredag|laurdag",
    days_short: "sø.|må.|ty.|on.|to.|fr.|la.",
    halves: ("f.m.", "e.m."),
};

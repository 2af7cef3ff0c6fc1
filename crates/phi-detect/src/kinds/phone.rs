//! Telephone, mobile, fax and pager numbers.
//!
//! North American numbers have ten digits; area and exchange start with 2 to 9.
//! International numbers start with "+" and have at most fifteen digits.

use super::{Evidence, Meaning, PhiRule, Shape};
use crate::spelling::Spelling;

pub(super) static RULE: PhiRule = PhiRule {
    code: "phone",
    label: "Phone",
    placeholder: "[PHONE]",
    summary: "US and international telephone, mobile, fax and pager numbers in the usual groupings, with country code \
        and extension; seven digits, digits without separators and spelled digits where the words around them are about calling.",
    not_found: "911, 988 and other short codes, in-house extensions alone, ranges, lab values, order and version numbers, time stamps.",
    authority: "North American Numbering Plan (ATIS-0300051); ITU-T E.164",
    threshold: 0.5,
    is_on_by_default: true,
    labels: &[
        (
            Meaning::Phone,
            "handy|joignable|joignable au|handynr|mobilnummer|mobiltelefon|festnetz|telefon|telefonnr|tel nr|tel privat|tel kom|telefon komorkowy|\
            telefon kontaktowy|nr telefonu|numer telefonu|nr tel|komorka|mobiel|telefoon|tel mob|numero de celular|\
            numero do celular|fone|tel cel|tel portable|numero de portable|tel fixe|recapito|recapito telefonico|\
            hp|hp no|tel casa|tel trabajo|telefono de contacto|telf|tel movil|telefono movil|telefono fijo|fijo|handynummer|mobil|rufnummer|telefonnummer|tel mobile|\
            numero de telephone|telemovel|telefone|celulare|cellulare|numero di telefono|gsm|telefoonnummer|\
            cp no|cp number|cp nos|mobil nr|mobilnr|fax back to|fax it to|faxen an|\
            tfno|tlf|tlfno|telef|telefs|telfs|movil|numero de movil|area code|phone|phones|phone number|phone no|\
            phone num|phone numbers|telephone|telephones|telephone number|tel|tel no|tele|cell|cells|cell phone|\
            cellphone|cell number|cell no|mobile|mobile number|mobile phone|mobile no|mob|fax|faxes|fax number|\
            fax no|faxed to|fax to|pager|pagers|pager number|beeper|home phone|work phone|cell phone number|\
            contact number|contact no|contact phone|callback number|call back number|phone home|phone work|\
            phone mobile|ph|phn|phone1|phone2|hotline|whatsapp|sms|landline|caller id|pgr|cb number|callback no|\
            telefono|numero de telefono|celular|patient phone|pt phone|emergency contact phone|daytime phone|\
            evening phone|best number|best phone|good number|direct line|direct|switchboard|main number|\
            \u{7535}\u{8bdd}|\u{8054}\u{7cfb}\u{7535}\u{8bdd}|\u{624b}\u{673a}|\u{624b}\u{673a}\u{53f7}|\u{96fb}\u{8a71}|\u{96fb}\u{8a71}\u{756a}\u{53f7}|\
            \u{643a}\u{5e2f}|\u{c804}\u{d654}|\u{c804}\u{d654}\u{bc88}\u{d638}|\u{627}\u{644}\u{647}\u{627}\u{62a}\u{641}|\u{647}\u{627}\u{62a}\u{641}|\u{627}\u{644}\u{62c}\u{648}\u{627}\u{644}",
        ),
        (
            Meaning::PhoneMaybe,
            "call|called|answering at|not answering|messages to|calling|calls|callback|call back|reach|reached|\
            reachable|text|texted|dial|dialed|ring|contact|contacted|page|paged|ext|extension|voicemail|answers at|\
            kontakt|kontakt pod|bel|bel my|bel me|bel my op|bel me op|ring til|ring til mig pa|ring mig pa|ring meg pa|\
            erreichen sie mich unter|erreichen sie uns unter|erreichen unter|mich unter|erreichbar|erreichbar unter|rung on|liga|llamadme|\
            llamar|llame|llamame|llamarme|llamar al|marque|left message|left a message|left vm|lvm|cb|number|numbers|\
            line|desk|office|front desk|nurse line|clinic|pharmacy|t|p|f|m|w|h|c|o|other no|alt no|alternate no|another no",
        ),
    ],
    keys: &[],
    cues: "",
    number: None,
    weights: &[
        // Shape and evidence, then how sure they make us and the name of the rule.
        (Shape::Value, Evidence::Field, 0.95, "phone.field"),
        (Shape::Spoken, Evidence::Label, 0.9, "phone.spoken"),
        (Shape::Spoken, Evidence::Form, 0.6, "phone.spoken"),
        (Shape::Spelled, Evidence::Label, 0.85, "phone.spoken"),
        (
            Shape::Unbroken,
            Evidence::BesideName,
            0.6,
            "phone.beside_name",
        ),
        (
            Shape::Abroad,
            Evidence::BesideName,
            0.6,
            "phone.beside_name",
        ),
        (
            Shape::Abroad,
            Evidence::AmongPeople,
            0.55,
            "phone.among_people",
        ),
        (Shape::LastFour, Evidence::List, 0.7, "phone.other_ending"),
        (
            Shape::Grouped,
            Evidence::Label,
            0.98,
            "phone.north_american",
        ),
        (Shape::Grouped, Evidence::Form, 0.9, "phone.north_american"),
        (Shape::Spaced, Evidence::Label, 0.95, "phone.spaced"),
        (Shape::Spaced, Evidence::Form, 0.65, "phone.spaced"),
        (Shape::Unbroken, Evidence::Label, 0.9, "phone.labelled"),
        (Shape::Unbroken, Evidence::Near, 0.7, "phone.spoken_of"),
        (Shape::Unbroken, Evidence::Stated, 0.6, "phone.at"),
        (Shape::Unbroken, Evidence::Kin, 0.65, "phone.of_family"),
        (Shape::OddlyGrouped, Evidence::Label, 0.93, "phone.labelled"),
        (
            Shape::OddlyGrouped,
            Evidence::NamedAfter,
            0.9,
            "phone.named_after",
        ),
        (Shape::OddlyGrouped, Evidence::Stated, 0.7, "phone.at"),
        (
            Shape::OddlyGrouped,
            Evidence::VagueLabel,
            0.7,
            "phone.abroad",
        ),
        (Shape::Local, Evidence::VagueLabel, 0.85, "phone.local"),
        (Shape::Local, Evidence::Stated, 0.6, "phone.at"),
        (Shape::Abroad, Evidence::VagueLabel, 0.75, "phone.abroad"),
        (Shape::Abroad, Evidence::Form, 0.55, "phone.abroad"),
        (
            Shape::International,
            Evidence::Form,
            0.95,
            "phone.international",
        ),
        (Shape::Abroad, Evidence::Kin, 0.6, "phone.of_family"),
        (Shape::Value, Evidence::Again, 0.7, "phone.repeated"),
        (Shape::Pager, Evidence::Label, 0.8, "phone.pager"),
    ],
    hits: &[
        "MRN 00412345, «415-555-0134»",
        "Please call the patient back on «206-555-0142» after lunch.",
        "Call her back on «(206) 555-0142» after 5pm",
        "Handy: «0171 2345678», tel. kom. «601 234 567»",
        "Fax the referral to «206.555.0143»",
        "+44: «+44 20 7946 0958»",
        "cell «2065550142»",
        "phone: «206-555-0142 x123»",
        "tel «1-800-555-0199 ext. 44»",
        "call «555-0142» if worse",
        "pager «(206)555-0142»",
        "or «(206)5550142»",
        "callback number is area code «two oh six, five five five, zero one four two»",
        "her number is «two zero six five five five zero one four two»",
        "call «eight hundred, five five five, zero one ninety nine»",
        "Tel: «(2O6) 555-Ol42» (fax)",
        "«206-555-0142»/«206-555-0143» or «206-555-0144»/«0145»",
        "pager «31415», ext 2217",
        "cell#«2065550142», (C) «2065550143», «(+1) 206 555 0142»",
        "abroad: «011 52 55 1234 5678» and «0044 20 7946 0958»",
        "daughter's # is «2065550142»",
        "Jane Roe, «2065550142»",
        "7,«206-555-0142»,8 or phone: «2065550142»,5 calls",
        "{\"phone\":\"«2065550142»\"}",
        "«206 555 0142»",
        "«555-0142» is her phone number",
        "reach her at «2065550142»",
        "my # «2065550142»",
        "Please call the nurse again if pain, fever, nausea or redness get worse after lunch tomorrow: «2065550142»",
        "try «085 555 0142», at home «03 5550 0142»; in Auckland «09 555 0142»",
        "Ambulanz: «0201 / 555-0142» oder «0711 / 55 01-42»",
        "Avisar «(21) 9 5550-0142» ou «(21) 95550-0143»",
        "su hijo Carlos, «155 555 0142», avisado",
        "Tel. de su vecina (Rosa): «55 5550 0142»; use the other no «95550 01420»",
        "MRN on the form: 4471902\nHome: «(206) 555-0142»",
        "Phone: «555-0142». We tried «555-0142» twice.",
        "电话: «135 5550 0142»",
        "my sister Maria, «555-0142», or his son Carlos «0855550142»",
        "Jane Roe rings from «955 550 118», her mother from «98450 01142»",
        "Jane Roe (which of the two?) wants a refill. «2065550142»",
        "Mob: «94221 17039» / «0712-229 1370»",
        "joignable au «06.71.20.88.14», erreichbar unter «0234-5550171»",
        "Tel. «+33 (0)3 20 55 01 66», called «775-2O8-0O41»",
        "Jane Roe «555-0142»; her son is at «555-0143», the nurse, Mark Price, at «206-555-0126»",
        "Order 4471 agreed with the rep, Jane Roe, «0114 496 0142»; ask Ana Poe on «01632 960 142»",
        "Mobile for Mr Roe: «07700 900 142»; call Mr. Roe «0131 496 0143»",
        "CP no.: «0917 555 0142»; Ring til mig på «75 55 01 42»; phone maybe «4821 5550»",
        "Bei Fragen erreichen Sie mich unter «0151 23456780», oder bel my op «072 555 0142»",
    ],
    misses: &[
        "l 640 995 588 1007 737 963 l",
        "GF\t+0456-05220\tAmerica/Cayenne",
        "<svg viewBox=\"0 0 1024 768\">",
        "// Copyright (C) 1998-2004 Example Foundation, (c) 2006 - 2010, (c) 1995-98",
        "list('-+0123456789.') and b\"0123456789\"",
        "768\n880\n1155\n1162\n",
        "FD78 <final> 0639 0645 0649",
        "a0 03 02 01 02 02 09 00",
        "Call 911 or 988 in a crisis.",
        "ratio 2065550142 seen",
        "MRN 206-555-0142",
        "order number 206-555-0142",
        "platelets 150-400, sodium 135-145",
        "version 1.2.840.113",
        "call  after lunch",
        "2025-02-03 11:02:33",
        "10.1056/NEJMoa2034577",
        "Please charge my credit card. Number is 4563824065059",
        "my driver's license number is 2270-66-1551",
        "call if taking 500-1000 mg, or 325-1000 mg a day",
        "pager: 5000 units of heparin",
        "Asset tag of pump 0044-5550-142, part 206-555-0142-B, UPS 1Z 55A AB1 05 5550 1420",
        "NHS no. 206 555 0142, CNS 7000 0555 0142 000",
    ],
    spelling: Spelling::Telephone,
    generalize: None,
    precedence: 0.25,
};

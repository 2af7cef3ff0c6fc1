//! Postal addresses.
//!
//! A street line starts with a number and ends with a street word; boxes, rural routes, highways and military lines
//! have further forms. Unit, city, state and ZIP that follow belong to the same finding.

use super::{Meaning, PhiRule};
use crate::generalize;
use crate::spelling::Spelling;

pub(super) static RULE: PhiRule = PhiRule {
    code: "address",
    label: "Address",
    placeholder: "[ADDRESS]",
    summary: "Street addresses through unit, city, state and ZIP as one finding, also over several lines; PO boxes, rural \
        routes, highways, military addresses, ZIP codes that are labelled as such.",
    not_found: "A city, state or country alone; wards, rooms and beds; counts followed by a word that is also a street word.",
    authority: "USPS Publication 28, Postal Addressing Standards",
    threshold: 0.5,
    is_on_by_default: true,
    labels: &[
        (
            Meaning::Address,
            "address|addresses|addr|addr1|addr2|address1|address2|address line|address line 1|address line 2|street|\
            street address|home address|mailing address|mail address|shipping address|billing address|street line|\
            streetaddressline|street address line|street1|residence|line1|line2|domicilio|direccion|direccion postal|adresse|\
            anschrift|endereco|indirizzo|residenza|wohnhaft|adres|patient address|\
            pt address|residential address|current address|permanent address|previous address|new address|\
            old address|work address|address1 line|ship to|mail to|lives at|lives on|live at|live on|lived at|\
            lived on|living on|moved to|staying at|living at|resides at|residing at|resides on|strasse|strasse nr|\
            domicilie|domiciliee|domicilie au|domicilio en|habite|habite au|vive en|vivo en|viven en|vivimos en|residente en|\
            residente na|residente em|residente in|residente no|reside en|mora na|mora no|mora em|moro na|morador no|\
            moradora na|morada|vecino de|vecina de|abita in|risiede in|wohnt in|wohnt am|wohnt|woonachtig|woont aan|\
            present address|residential|postal address|native place|residing with us at|occupying|deliver to|dia chi|\
            \u{c8fc}\u{c18c}|\u{e17}\u{e35}\u{e48}\u{e2d}\u{e22}\u{e39}\u{e48}|\
            logradouro|demeurant|demeurant au|zam|zamieszkaly|zamieszkala|resi|resi address|\
            \u{4f4f}\u{6240}|\u{5730}\u{5740}|\u{4f4f}\u{5740}",
        ),
        (
            Meaning::Zip,
            "zip|eircode|zip code|zipcode|postal code|postal|postcode|post code|zip4|codigo postal|cod postal|cp|c p|\
            code postal|plz|postleitzahl|cep|codice postale",
        ),
        (
            Meaning::City,
            "city|town|state|country|county|region|ort|wohnort|stadt|ville|ciudad|cidade|citta|miasto|localidad|municipio",
        ),
        (
            Meaning::Dwelling,
            "lives|live|living|lived|resides|residing|reside|moved|home is|house",
        ),
        (
            Meaning::Corner,
            "corner of|the corner of|intersection of|the intersection of",
        ),
    ],
    keys: &[],
    cues: "",
    number: None,
    weights: &[],
    hits: &[
        "The patient lives at «1428 Larchmont Avenue, Spokane, WA 99205».",
        "«12 Oak St Apt 4B, Springfield, IL 62704-1234» is home",
        "mail to «P.O. Box 175, Yakima, WA 98901»",
        "ship to «PSC 5769, Box 3624\nAPO AE 46311»",
        "address: «8170 Walker Path\nKirkview, WY 58131»; phone",
        "«13125 Highway 138», just past the mill",
        "zip code «99205»",
        "postal code «K1A 0B1»",
        "at «221B Baker Street, London NW1 6XE» today",
        "sent to «2231 Broadway, New York, NY 10027»",
        "lives on «Larchmont Avenue» with her aunt",
        "Lives w daughter on «Birch Hollow Rd».",
        "«22 Amsinckstrasse 9\n Suite 776\n Arnsdorf\n Malta 38302»",
        "lives at «17 Elm Court»",
        "my aunt, who lives with him at «2207 Mockingbird», called",
        "at «the corner of Elm and 5th Street» since May",
        "write to «22 Via Roma 41, Recco, South Africa 27766»",
        "«12 Oak St\n, Springfield\n, IL 62704»",
        "«12 Oak Street»\n«14 Elm Street» are both empty",
        "Domicilio: «C/ Mayor 12, 3º B, 28013 Madrid».",
        "vive en «Avda. de la Constitución, 25, 2º izq., 41001 Sevilla».",
        "«Ctra. Málaga n.º 119, 04700, El Ejido», tel.",
        "«Calle 85 #12-30»; «Av. de Elvas s/n. 06080 Badajoz»",
        "met at «Grand & 9th» yesterday, near «9th Ave and Grand St»",
        "{\"address\":\"«Hauptstr. 12b»\"}",
        "{\"strasse\":\"«Am Steig 3»\"}",
        "Thank you. «3/18 Wattle Rd, Ballarat VIC 3350»",
        "wohnt „«Lindenbergstr. 8»“, sagt er",
        "UPDATE p SET street = '«1428 Larchmont Ave Apt 9»'",
        "will wait at «SE Oak and 12th» tomorrow",
        "lives at «22 Elm Avenue, Mt Albert, Auckland 1025», with her son",
        "habite «14 rue Daumesnil, 94300 Vincennes», avec son mari",
        "lives at «4 Oak Road, Ballinasloe, Co. Galway H53 X0P9» now; eircode «D11 XW29»",
        "at «12 Oak Street, Nagpur-440022», and «12 Oak Street, Town Hall Area, Pune - 411043»",
        "Stan lives at «7 Oak Street, Lithgow 2790», which is far; at «12 Vygie Street, Bonteheuwel» where she left",
        "Domicilio: «Mz. K Lt. 12, AA.HH. Los Olivos, Comas»",
        "Address unchanged: «Plot 7, Road 12, Peace Estate, behind the cold store, Kumasi»",
        "elle habite «Biyem, carrefour Acacias, immeuble rose, 2e étage, Yaoundé», avec son fils",
        "moved to «Stand 44, Zone 6, near the big mosque»; he lives in Leeds, Yorkshire",
        "post reaches me at «The Old Dairy, Llanon, Ceredigion SY23 4LA».",
        "sent to «The Old Forge, 2 Church Walk, Taunton TA4 3XX» again",
        "will visit «Blaen-y-cwm, Llanwddyn, SY10 0XX» on Monday; Jane Roe, «Croft 7, Isle of Tiree PA77 6ZZ»",
        "Sie zieht vom «Oberdorf 14, 9650 Nesslau» ins Altersheim",
        "from «Strandvejen 12». He is now at «Casella postale 2214, 6830 Chiasso»; or «Private Bag X14, Mthatha 5080».",
        "domicilio en «calle Mayor, 15, 2.º B, 47004 Valladolid», y su hermano",
        "Morada: «Rua das Flores 44, 3.º Esq., 1250-199 Lisboa»",
        "lodging at «Room 406, Larch House, 22 Oak Street, Springfield» again; to «Oakwood Court, 6 Elm Street, Truro TR1 3XX»",
        "write «c/o St Vincent shelter, 40 Dock Rd, Limerick V94 X5K6» please; at «Unit 1907 - 1188 Oak Street» since May",
        "She lives at «Strandvejen 9 or 11», I think.",
        "He lives at «12 Oak Street», COPD, on oxygen; lives at «14 Oak Street», 2019 records",
    ],
    misses: &[
        "Copyright (c) 1998, 1999, 2000 Thai Open Source Software Center Ltd",
        "However, PEP 508 introduced operators such\n# as ~= and ===",
        "'asin', 'atan', 'atan2', 'ceil'",
        "He has 2 dogs and a drive to succeed",
        "take 2 tablets by way of mouth",
        "Patient is in room 12, bed 3",
        "CPT 99213 and 93000 were denied.",
        "The patient lives at .",
        "5 days in the ICU at St. Mary",
        "taken to operative Suite #5 and placed",
        "walked 2 miles in the park",
        "PATIENT OF 65 YEARS OLD IS SUFFERING IN A PLACE",
        "PSA 11.6. Dr. Roe reviewed the notes",
        "given 10 Units Lantus and 4 Tylenol",
        "Labs: HCO3 25 BUN 12 Cr 0.9",
        "K 3.5-5.0, Cl 98-106, HCO3 22-29",
        "meet at 12 Noon. Arrived at 1430 Tuesday, lives alone",
        "addr2 TEXT, line1 VARCHAR",
        "AV nodal 2, via Foley 14, on the 5th and Tuesday",
        "Na 138 K 4.1 Cl 101 HCO3 24 BUN 12 Cr 0.9 Glu 99",
        "3-0 silk x4, 0 Prolene loop x2",
        "lives near a train station, I'd say; lives alone, 67 yo; moved from Rome at 3? Had BCG, OPV x3",
        "Vitamin B12 5MG daily, Table 3, 5000 Patients",
        "the Normal Living Index, SF-36, and others",
    ],
    spelling: Spelling::Words,
    generalize: Some(generalize::address),
    precedence: 0.15,
};

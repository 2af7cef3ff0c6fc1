//! Names of people, by the words around them.
//!
//! Titles, labels and family words announce a name; a known given name followed by
//! another capitalised word is one by itself. The name model adds what no rule sees.

use super::{Meaning, PhiRule};
use crate::spelling::Spelling;

pub(super) static RULE: PhiRule = PhiRule {
    code: "name",
    label: "Name",
    placeholder: "[NAME]",
    summary: "Names of patients, relatives, clinicians and staff: after titles and labels, in \"Last, First M\" form, in \
        signatures, in HL7 and FHIR name fields, and in running text.",
    not_found: "Eponyms (Parkinson disease, Foley catheter), drugs and brands, organisations; titles and credentials stay outside the finding.",
    authority: "HIPAA Safe Harbor, 45 CFR 164.514(b)(2)(i)(A)",
    threshold: 0.25,
    is_on_by_default: true,
    labels: &[
        (
            Meaning::Name,
            "patient name|patients name|patient full name|pt name|pts name|patientname|ptname|client name|member name|\
            subscriber name|insured name|guarantor name|first name|firstname|fname|given|given name|name last|\
            name first|name given|name family|name middle|givenname|given names|last name|lastname|lname|family|\
            family name|familyname|surname|middle name|middlename|mname|maiden name|mothers maiden name|\
            mother s maiden name|preferred name|nickname|full legal name|legal name|fullname|patient first name|\
            patient last name|pt first|pt last|provider name|physician name|doctor name|attending name|nurse name|\
            emergency contact name|next of kin|next of kin name|nok|nombre|nombre del paciente|apellido|apellidos|nm|\
            patient|pt|attending|attending physician|referring physician|referring provider|ordering provider|\
            ordering physician|pcp|primary care physician|primary care provider|surgeon|emergency contact|\
            contact person|guardian|caregiver|spouse|mother|father|parent|guarantor|subscriber|insured|beneficiary|\
            resident|client|physician|provider|dictated by|signed by|electronically signed by|cosigned by|seen by|\
            author|author name|reviewed by|transcribed by|grossed by|witnessed by|administered by|prepared by|performer|assigned to|employee name|\
            user full name|witness|examiner|complainant|decedent|coordinator|usual nurse|named nurse|typed by|called by|called back by|entered by|recorded by|drawn by|collected by|initials|\
            nombre y apellidos|apellidos y nombre|paciente|medico|remitido por|responsable clinico|fdo|firmado|\
            firmado por|nom|prenom|nom du patient|vorname|nachname|familienname|cognome|apelido|sobrenome|\
            nome do paciente|voornaam|achternaam|nom d usage|nom de naissance|nom de jeune fille|geburtsname|nazwisko|\
            imie i nazwisko|endorsed by|completed by",
        ),
        (
            Meaning::NameMaybe,
            "name|names|person|contact name|user name|full name|display name",
        ),
    ],
    keys: &[],
    cues: "",
    number: None,
    weights: &[],
    hits: &[
        "Patient «John Smith», SSN 536-22-8741, has a cough",
        "The patient's name is «Maria Delgado», please summarise.",
        "Patient «Maria Delgado» presents with dyspnea.",
        "Dr. «Newman» (fellow) will see her",
        "Mrs. «O'Brien-Lee»'s daughter",
        "name: «potter, mark»; address",
        "«Galloway, Leah» was billed",
        "Pt «Barberini» has had increasing pain",
        "my husband «Kimberly» was born",
        "seen by «Jane Q. Roe», MD",
        "her doctor is dr «patel» today",
        "Baby boy «Hernandez» was born",
        "Hi «Jennifer», please see below",
        "interpreter «Nguyen Van An» was there",
        "Dictated by «J. Smith», M.D.",
        "cc «R. Jones», RN",
        "PCP «Smith» agrees",
        "To: \"«Mark Roe»\" <mark@example.com>",
        "lastName: \"«Roe»\"",
        "Patient «Will Young» reports pain",
        "{\"last_name\":\"«Okonkwo»\"}",
        "Present: «Lena Ruiz», «Omar Diaz» and «Kim Sato».",
        "Called back by «TWR» at 0915. Dictated by: «JTR», typed by: «mk»",
        "«CHO» 405: 34M alcohol withdrawal",
        "Spell it please. «R as in rain, U, S, T, A, V»",
        "Please ring me after six.\n\nta\n«mo»",
        "«Phillip»,\n\nplease see the list below",
        "«Jane Roe» saw «Mark Poe» and «Lena Ruiz».\n«BARNES» 402-2: 77M NSTEMI, heparin gtt, cath am w/ «Imhoff»\n«CHO» 405: 34M",
        "The plan said three days. - «Marisol»",
        "- 301 «Hale» -> SNF at 11, seen by Dr. «Okonkwo», son «Danny»\n- 302 «Bui», needs PT eval\n- 305 «Okafor» tele off\n- 307 «Gold» CIWA",
        "GI («Farhadi») to scope, seen by renal («Osei»)",
        "«Roth, J» - rash worse\n«Roth, M» - wrong chart",
        "«Jane Roe» saw «Mark Poe» and «Lena Ruiz». Shelf: «Imhoff» 2, heparin 4, saline 6.",
        "Call back «Maria Storm Hansen» today.",
        "She is better. We are done. I spoke with «okonkwo» about it. He agrees. We go on.",
        "You are Claude Code, a CLI tool.\nPatient: «Claude Stone»",
        "You are Claude Code, a CLI tool.\nPatient: «Okonkwo, Claude»",
        "You are Claude Code, a CLI tool.\n«Kelly, Claude» was discharged at noon.",
        "You are «Ava», an AI assistant for nurses. Mrs. «Ava Stone» fell last night; «Ava» is on apixaban.",
        "{\"mrn\":\"4471902\",\"first\":\"«Jane»\",\"middle\":\"«Q»\",\"last\":\"«Roe»\"}",
        "Last name: «Okonkwo»________  DOB: 3/14/1962",
        "Dr. med. «Weiss», dr. hab. «Nowak», Hr. «Lang» and o senhor «Carlos» came",
        "Her aunt «Grace» drives; Sohn «Jonas» called.",
        "«JTR»/«mk»\nClinic today. «Jane T. Roe» agreed, and «JTR» signed.",
        "Dr. «Okonkwo» rounds.\n| drug | dose | when | who | note |\n| Januvia | 100 mg | 6/11 | «Okonkwo» | hold |",
        "Slán go fóill,\n\nGo raibh maith agat,\n«Siobhan»",
        "«maria_rn»: who has the keys\n«kofi.p»: «Gus» had em at 2\n«maria_rn»: «gus» went home\n«kofi.p»: then «gus» has the keys",
        "Both from clinic B: «Maria Delgado», «Kofi Mensah», «Jane Roe». It is «Peterson» with an o versus «Petersen» with an e.",
        "«Maria Delgado» here:\n«Bex» 06:51: full house\n«Anselm» 06:52: which two\n«Bex» 06:52: bed 5\n«Anselm» 06:55: ok",
        "Seen with «Jane Roe» today. Will call on Monday. -- «RJK»",
        "Discussed with «Jane Roe». Reassured. «BT»/«mkw»",
        "The bank reported a payment that nobody had asked for. It was made late on the second of the month from \
            «Jane Roe»'s account, and the money went abroad on the same day. Please draft a reply to the branch that \
            thanks them and asks for the papers.",
        "The family is here, the spokesman is uncle «Fetu».",
        "Dr. «Claussen» will Freitag fort. LG «Gesa»",
        "Dr. «Okonkwo» rounds at nine. Lines: «Flip» says no.",
        "«Josh Kowalchuk» will bring the suit. She asked us twice not to print «kowalchuk».",
        "A 10 Fr Cook catheter and an 18 Fr Foley are in the cart. Fr. «Cook» will visit.",
        "The two new lifting robots arrived this morning and are charging in the store behind the lift. «Gertrude» goes to \
            the orthopaedic floor and «Winston» stays here for training. Please do not push them by hand, and call the \
            workshop when a red light shows. Nurse «Okonkwo» shows how it is done.",
        "@@ -41,7 +41,7 @@ an example of what a path may select\n   \"active\": true,\n-  \"use\": \"usual\",\n+  \"use\": \
            \"official\",\n   \"family\": \"«Hastings»\",\n   \"period\": {\n     \"end\": \"2002\"\n   }\n\nThe path in the \
            next example reads the first of these fields and returns it as a list of strings; an empty list means that \
            nothing was selected.",
        "        args = [dst_key, src_key, start, stop]\n\n        if by_score\n          # for (\"«Mary Eriksen»\", 555, True)\n\
            \x20         args << \"BYSCORE\"\n        elsif by_lex\n          args << \"BYLEX\"\n        end\n\n        args << \
            \"REV\" if rev\n\n        if limit\n          limit = limit.map { |value| Integer(value) }\n        end\n",
    ],
    misses: &[
        "{\"en\": \"Save\", \"pt\": \"Salvar\", \"es\": \"Guardar\"}",
        "Get-Privilege -Name SeDebugPrivilege",
        "use nom::IResult; if x.parent === Base {}",
        "Name: Pygments\nVersion: 2.14.0\nSummary: Pygments is a highlighter",
        "any version prepared by Licensee; in the event that Licensee",
        "<default><family>Courier</family></default>",
        "{\"name\": \"left-pad\", \"version\": \"1.3.0\", \"author\": \"Example Inc.\", \"dependencies\": {\"tap\": \"1\"}}",
        "{\"patient\":\"x\"}",
        "name: Docker build\non:\n  push:\n    branches: [main]",
        "DALLAS/FORT WORTH INTL ARPT,MD-80,None",
        "café / \"The patient's social security number is on file.\"",
        "Parkinson disease, Crohn disease, Hodgkin lymphoma, Foley catheter, Apgar score, Glasgow coma scale.",
        "Patient , SSN , has a cough",
        "Patient denies chest pain",
        "Patient: 45-year-old woman",
        "Dr.  will call",
        "PATIENT HISTORY",
        "The patient Reports pain",
        "Summarise the Mayo Clinic guideline on statins.",
        "Patient Agreements: the plan was explained",
        "I gave the patient Protonix for this",
        "Reachable by the team, NP. Reachable at noon",
        "CREATE TABLE p (given_name TEXT, family_name VARCHAR(40), dob DATE)",
        "<name>SYRUP</name> displayName=\"TABLET\" name: 'Oral Spray'",
        "She travelled to Jordan, Chad and Georgia last year.",
        "called by ICU, drawn by RN, signed by MD",
        "Dear Colleague, thank you for your letter",
        "<input name=\"a, b.pdf\">",
        "User: Which city is the largest?\nAssistant: Charlotte",
        "best\nbetter\nregards\nthanks\nthen",
        "that's called P S A",
        "{\"a b\": [1, 2], \"x y\": null}",
        "How old is the pope today?",
        "0B1,Col. Dyke,Bethel,ME,44.42506444,-70.80784778",
        "Take the ramp.\n\nThanks,\nFacilities",
        "Pathology (Gleason 7), ID (MRSA), lab (Monday)",
        "You are Devin, a coding agent. Devin can run the tests. Claude Code and Claude Sonnet 4.5 are models by Anthropic.",
        "You are Claude, an AI assistant. However, Claude may be wrong.",
        "Allows Claude to search the web and use the results in its responses",
        "Closed for Winter Storm Fern. Take the 147 Sheridan bus and wait in the Curie wing.",
        "- 301 Algebra\n- 302 Biology\n- 305 Chemistry",
        "below Mount Henry on the Clark Fork; Hurricane Ian closed the clinic",
        "{\"last_name\": [\"This field cannot be blank.\"], \"fontFamily\": \"Arial\"}",
        "Thank you, Patient Access Services",
        "XARELTO (zah-REL-toe), print(\"Hello World!\")",
        "The waiting area gets new seats and a fresh coat of paint before the survey. The chairs are blue and will \
            be delivered next week; the old ones go to the store. The Ryan White program has moved to the second floor. Please \
            note that nobody may sell anything on the wards, whatever they bring, and that the loading dock stays \
            closed until noon on both days.",
        "08/02 PROF FEE 310.00; HR Regular; PR Interval",
        "Coffee is in the break room. CWF still shows the plan; a near miss Sunday.",
        "{\"dob\":\"1962-03-14\",\"city\":\"Ewa Beach\"}",
        "Please call back soon, many thanks Reception",
        "The ward rounds at nine. Lines: Flip says no.",
        "The two new lifting robots arrived this morning and are charging in the store behind the lift. Daisy goes to \
            the orthopaedic floor and Hector stays here for training. Please do not push them by hand, and call the \
            workshop when a red light shows or when one of them stops in a doorway.",
    ],
    spelling: Spelling::Words,
    generalize: None,
    precedence: 0.0,
};

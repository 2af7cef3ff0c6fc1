//! Dates of birth.
//!
//! A date is one only when something says so: a label, "born", a field or column
//! of that meaning. All other dates are left alone.

use super::{Meaning, PhiRule};
use crate::generalize;
use crate::spelling::Spelling;

pub(super) static RULE: PhiRule = PhiRule {
    code: "dob",
    label: "Date of birth",
    placeholder: "[DOB]",
    summary: "Dates of birth in every usual form (numeric, ISO, compact, written or spelled out, two-digit years, European \
        order, day and month alone), where a label, the word \"born\", a column, a key or HL7 PID-7 marks them as such.",
    not_found: "Dates of visits, admissions, procedures and all other dates; ages; a year alone.",
    authority: "HIPAA Safe Harbor, 45 CFR 164.514(b)(2)(i)(C); ISO 8601; HL7 v2 PID-7",
    threshold: 0.5,
    is_on_by_default: true,
    labels: &[
        (
            Meaning::Dob,
            "dob|dobs|d o b|dateofbirth|date of birth|dates of birth|birth date|birthdate|birthdates|birthdt|birth dt|\
            birth dates|date birth|birthdate is|birthday is|birthdays|born on|was born on|birth time|birthtime|\
            dt of birth|day of birth|patient dob|pt dob|member dob|subscriber dob|patient birth date|\
            patientbirthdate|fecha de nacimiento|fecha nacimiento|fecha nac|fec nac|f nac|fdn|geburtsdatum|\
            date de naissance|bd|bdate|bday is|brthdt|birth|yob|doby|\
            nacido el|nacida el|nacio el|f nacimiento|f de nacimiento|fecha de nac|fnac|f n|\
            ne le|nee le|naissance|ddn|\
            geburtsdat|geb|geb dat|geb am|geboren am|geboren op|geboren den|geboortedatum|geb datum|\
            nascido em|nascida em|nascido a|nascida a|nascido aos|data de nascimento|data nascimento|dt nasc|\
            data nasc|nasc|d n|data di nascita|data nascita|nato il|nata il|\
            data urodzenia|urodzony|urodzona|narozen|narozena|datum narozeni|szuletett|szuletesi datum|szuletesi ido|\
            dogum tarihi|data nasterii|nascut la|nascuta la|fodelsedatum|fodselsdato|syntymaaika|tanggal lahir|ngay sinh|\
            lahir|tgl lahir|tarikh lahir|alizaliwa|alizaliwa tarehe|nasceu em|nasceu a|nasceu|nasci em|nasci|kaarawan|sinh ngay|dogum|\
            fodd|f\u{f6}dd|fodt|f\u{f8}dt|birth date is|\
            \u{434}\u{430}\u{442}\u{430} \u{440}\u{43e}\u{436}\u{434}\u{435}\u{43d}\u{438}\u{44f}|\u{e40}\u{e01}\u{e34}\u{e14}|\
            \u{751f}\u{5e74}\u{6708}\u{65e5}|\u{51fa}\u{751f}\u{65e5}\u{671f}|\u{c0dd}\u{b144}\u{c6d4}\u{c77c}|\
            \u{62a}\u{627}\u{631}\u{64a}\u{62e} \u{627}\u{644}\u{645}\u{64a}\u{644}\u{627}\u{62f}",
        ),
        (
            Meaning::Born,
            "born|b|turned|turns|turning|geboren|nacido|nacida|nacio|cumple anos|cumpleanos|fyller|arrived into the world|\
            delivered on|geburtstag|birthday|bday|b day|birth day",
        ),
    ],
    keys: &[(
        Meaning::OtherDate,
        "dob from|dob to|dob min|dob max|dob after|dob before|dob start|dob end|birth date from|birth date to|birthdate from|\
         birthdate to|birth date min|birth date max|birth date after|birth date before|birth date start|birth date end",
    )],
    cues: "",
    number: None,
    weights: &[],
    hits: &[
        "The patient's date of birth is «03/14/1962», please summarise.",
        "DOB «03141962»",
        "birthDate=«1962-03-14»T08:30:00Z",
        "born on the «fourteenth of March 1962»",
        "born «2010-09-12», male",
        "d/o/b: «14-Mar-62»",
        "My birthday is «March 14»",
        "«3/14/1962» (DOB)",
        "WHERE dob = DATE '«1962-03-14»'",
        "ROE, JANE «03/14/1962» MRN:0048213",
        "Date of birth: «0 3 / 1 4 / 1 9 6 2»",
        "Birthday?\nCaller: «March 14th, 1962».",
        "Date of birth?\nMBR: «Twelve, oh one, nineteen fifty-two».",
        "for Maria Delgado («3/14/1962»), a refill",
        "DOB: «O3/l4/l962» (fax)",
        "DOB «03 14 62», date of birth MM DD YY «03 14 62»",
        "BIRTH DATE «03 | 14 | 1962» SEX F",
        "And your birthday, sir?\nPt: «two nine thirty four».",
        "DOB was entered as «03/41/1962»",
        "DOB: «3 / 14 / 62», DOB «03,14,1962», DOB «3:14:1962»",
        "birthDate: new Date(\"«1962-03-14»\")",
        "DOB as on her license: «3/14/1962»",
        "Note: «3/14/1962» is her date of birth",
        "birth date reported by her mother as «3/14/1962»",
        "DOB «14-Mar-1962» vs. «14-May-1962», which is right?",
        "birthdate=ge«1962-03-14»&sex=F",
        "DOB: [DOB] «03/14/1962»; DOBs 7/«03/14/1962»,«04/15/1963»",
        "Jane Roe (b. «3/14/1962»), a refill",
        "SSN/DOB 536-22-8741/«03-14-1962»",
        "{\"birthDate\":\"«19620314083000»\"}",
        "turned 40 on «March 14»",
        "{\"dob\":{\"year\":«1962»,\"month\":«3»,\"day\":«14»}}",
        "DOB «??/09/1961», DOB: «09/1?/1961», DOB «XX-09-1961»",
        "DOB: «7 juillet 1944», né le «3 août 1961» à Lyon",
        "Geb. «4. Mai 1950», geb. am «12.03.1948»",
        "data de nascimento: «12 de março de 1948»",
        "data di nascita «3 marzo 1948», nato il «3 giugno 1950»",
        "geboren op «3 mei 1948», F. nac.: «12/03/1948»",
        "生年月日: «昭和23年3月12日»",
        "Born «12.III.1948»",
        "data urodzenia: «3 kwietnia 1952», narozen «3. dubna 1952», data nașterii: «3 aprilie 1952»",
        "ROE, MARK SR\n  «03-14-62»\n  SSN 536-22-8741",
        "Weiss, Anna, *«14.3.62»; Jan Nowak, ur. «3 XI 1962» r.",
        "患者李四,男,«1962年3月14日»出生",
        "sister b. «03/1962», well; «14 March» is her real birthday",
        "0900 LINDQVIST IRENE / «140362» / DR ROSE\n0910 MACEY VIRGINIA / «281138» / DR ROSE\n0920 HOLLOWAY DEBORAH / «090961» / DR ROSE",
        "LINDQVIST  IRENE    «19620314»F000447120\nHOLLOWAY   MARTIN   «19880915»M000447133",
        "1. Roe, Jane «3/14/62» F\n2. Poe, Mark «1/5/1971» M",
        "born in «March 1962», her bday: «3/14»",
        "Jane Roe (no relation!), «3/14/1962», is back",
        "date of birth «14th of the 3rd, 1962»",
        "D0B: «O3/l4/l962» (fax)",
        "DOB on the form is wrong («14.3.62» not «3.14.62»), please correct",
        "born either side of midnight, «14.3.62» and «15.3.62»",
        "Child 1: Moses, «3/9/11»; daughter Grace, «1/17/13»; mother Jane Roe, «5/6/90»",
        "She was born on «Christmas Day 1942» in Hull; born «Halloween».",
        "Baby girl born «3/14» at 16:30, doing well",
        "dob = as.Date(\"«1962-03-14»\")",
        "date of birth «14.iii.1962», nasc. «14/set/1962», bday: «03~14~1962»",
        "született: «1962. június 14.»; Geburtstag «14.3.», er freut sich",
        "his date of birth as the «14th of the 3rd, '62»; thanks",
        "lahir «17 Agustus 1962», född «14 maj 1962», doğum tarihi «29 Ekim 1962»",
    ],
    misses: &[
        "MRN       Last      First    Admit\n771204    Roe       Jane     1/4/2025\n771240    Doe                1/5/2025\n",
        "{\"dob_from\":19000101}",
        "2005-06-23  Jane Roe <jane.roe@clinic.example>\n\n\t* Fix the build.",
        " -- Jane Roe <jane.roe@clinic.example>  Sun,  7 Aug 2005 23:23:08 -0400",
        "Admitted on March 14, 2025 and discharged March 19, 2025.",
        "World War II ended on September 2, 1945.",
        "DOB , please summarise",
        "seen 3/14/2024 for a cough",
        "born in 1962",
        "DOB [DOB], visit 3/14/2024",
        "Born at 27 6/7 weeks",
        "seen 3/14/2024 for DOB verification",
        "ask Priya B. about the clinic on 5/6/2025",
        "1.0.3 (2018-08-24)\n=====\nFix the build",
        "DOB: __/__/____, DOB XX/XX/XXXX",
        "Rated *3.4.57* by users; due 03/1962",
        "She gave birth in August 2008.",
        "Roe, Jane 3/14/2024 follow-up",
        "0900 LINDQVIST IRENE / 140362 / DR ROSE\n0910 MACEY VIRGINIA / 484838 / DR ROSE\n0920 HOLLOWAY DEBORAH / 090961 / DR ROSE",
        "Jane Roe, surgery 3/14/1998, is back",
        "born at home; seen 3/14/2024 and 3/21/2024",
        "Jan Nowak fought in the war until 8 May 1945. Anna Weiss remembers 8 May 1945, the end of the war.",
        "Ex 27 6/7 weeks, Baby Boy Roe; born 27 6/7 weeks, twin B",
        "date of birth [00:00:40] okay; DOB: 06, 08, 12 are empty",
        "She was born a Christmas baby; her birthday is Christmas by the old calendar",
    ],
    spelling: Spelling::Words,
    generalize: Some(generalize::birth),
    precedence: 0.26,
};

//! Medical record numbers.
//!
//! There is no common format: the words around decide. Sites with a fixed format
//! can name it in the settings, and it is then found without a label.

use super::{Evidence, Meaning, PhiRule, Shape};
use crate::spelling::Spelling;

pub(super) static RULE: PhiRule = PhiRule {
    code: "mrn",
    label: "MRN",
    placeholder: "[MRN]",
    summary: "Medical record, chart, hospital and patient numbers by the words that introduce them, in prose, forms, \
        HL7 PID-3 and FHIR identifiers of type MR; site formats from the settings without a label.",
    not_found: "Member, policy, claim, account, order and accession numbers; UUIDs and numbers without a label.",
    authority: "HL7 v2 table 0203 (identifier type MR); FHIR Identifier; HIPAA Safe Harbor 45 CFR 164.514(b)(2)(i)(H)",
    threshold: 0.5,
    is_on_by_default: true,
    labels: &[
        (
            Meaning::Mrn,
            "mrn|mrns|mrn no|mrn number|mr no|mr number|mr num|mr nbr|mrnum|mrnumber|medrec|med rec|med rec no|\
            med rec number|med record|med record no|med record number|medical record|medical records number|\
            medical record number|medical record numbers|medical record no|medical record num|medical record id|\
            medical rec|medical rec no|medical record identifier|record number|record no|record num|chart number|\
            chart numbers|chart nos|chart no|chart num|chart id|hospital number|hospital no|patient chart number|\
            hospital num|hospital id|id hospital|hosp no|hosp num|hospital record number|unit number|unit no|emrn|empi|mpi|\
            mpi number|epic mrn|patient mrn|pt mrn|patient medical record number|health record number|health record|\
            clinic number|clinic no|numero de expediente|expediente|historia clinica|nhc|numero de historia clinica|\
            uhid|uhid no|uhid number|ur|ur no|ur number|urn|hospital unit number|unit record number|ehr id|\
            ehr number|emr id|emr number|emr no|epic id|cerner id|m r n|m r no|m r number|hosp number|hosp id|\
            medical rec number|numero de historia|numero de expediente medico|expediente medico|expediente clinico|\
            numero de registro medico|registro medico|num de expediente|num de historia clinica|numero de hospital|\
            facility mrn|umrn|cmrn|mrn id|mrn num|mrn nbr|record id|history no|history number|chart nbr|\
            patient record number|patient record no|\
            num historia|n historia|numero historia clinica|nhcl|cipa|numero de dossier|ipp|patientennummer|\
            patienten nr|fallnummer|aktenzeichen|numero do prontuario|prontuario|cartella clinica|numero cartella|\
            patientnummer|hosp nr|krankenhausnummer|patientennr|patientnr|patient nr|aufnahmenummer|numero dossier|\
            no de dossier|n de dossier|no dossier|dossier patient|dossier medical|numero paziente|codice paziente|\
            cartella n|cartella clinica n|numero di cartella|numero cartella clinica|numero de processo|processo clinico|\
            numero do processo|no do prontuario|n do prontuario|no de prontuario|n de prontuario|numero de prontuario|\
            dossiernummer|zorgnummer|numer pacjenta|nr pacjenta|numer historii choroby|nr historii choroby|\
            historia choroby|nr kartoteki|numer kartoteki|journalnummer|journalnr|no de historia clinica|\
            no historia clinica|no de expediente|n de historia clinica|pat nr|rec no|rec number|folder no|folder number|\
            op no|opd no|cr no|dossier n|m r d no|ipd|protokol no|protokoll nr|pasient id|pasientnummer|patientenindex|epd number|epd nummer|\
            ihs number|nr hist chor|\u{43a}\u{430}\u{440}\u{442}\u{430} n|\u{43a}\u{430}\u{440}\u{442}\u{430} no|\
            \u{60a3}\u{8005}id|hospital record|record numbers|hospital numbers|medical record nos|mrd no|mrd number|ip no|ipd no|\
            ipd number|opd number|inpatient no|inpatient number|outpatient no|outpatient number|umr|umr no|umr number|\
            hrn|hrn no|hrn number|patient registration no|patient registration number|hospital registration no|\
            resident number|resident no|resident id|fall nr|fallnr|fall nummer|patienten id|patientenid|pat id nr|\
            aktennummer|nosologico|codice nosologico|rekam medis|no rekam medis|nomor rekam medis|no rm|nrm|numero patient|\
            no patient|facility number|rec id|processo n o|n o de processo|n o do processo|n o de dossier|n o dossier|\
            hosp card|hosp card no|hospital card|hospital card no|hospital card number|clinic card|clinic card no|\
            clinic card number|pas no|pas number|rio no|rio number|rio id|local id|local number|hosp case no|\
            hospital case no|hospital case number|h c|h c n|n h c|nro h c|hc n|hc no|hist clin|hist n|pront|pront n|\
            n processo|n o processo|dosya no|hasta no|cart clin|cart clinica|cod paziente|codice pz|parcha number|parcha no|\
            no exp|num exp|exp clinico|exp med|n patient|no du patient|numero du patient|patient file no|\
            patient file number|patient file|lab id no|anc no|anc card no|anc number|\
            clinic card nos|opd card no|opd card|nr ks gl|sjukranr|temp number|temporary number|sticker number|\
            rn number sticker|hospital acct|\
            nhi|nhi no|nhi number|bed ticket|bed ticket no|bed ticket number|bht|bht no|torzsszam|\
            ficha clinica|numero de ficha|n de ficha|ficha n|processo n|processo no|n de processo|no de processo|\
            \u{4f4f}\u{9662}\u{53f7}|\u{75c5}\u{5386}\u{53f7}|\u{95e8}\u{8bca}\u{53f7}|\u{75c5}\u{6b77}\u{865f}|\
            \u{30ab}\u{30eb}\u{30c6}\u{756a}\u{53f7}|\u{60a3}\u{8005}\u{756a}\u{53f7}|\u{8a3a}\u{5bdf}\u{5238}\u{756a}\u{53f7}|\
            \u{b4f1}\u{b85d}\u{bc88}\u{d638}|\u{cc28}\u{d2b8}\u{bc88}\u{d638}|\
            \u{631}\u{642}\u{645} \u{627}\u{644}\u{645}\u{644}\u{641}",
        ),
        (
            Meaning::MrnMaybe,
            "chart|record|patient id|patient ids|patient identifier|patient no|patient number|patient num|\
            patient identification number|pt id|pt no|pt number|pt num|patientid|patid|mr|file number|file no|pat id|\
            pat no|emr|ehr|ptid|id number|patient nbr|case id|subject id|visit mrn|numero de paciente|\
            num de paciente|id de paciente|id del paciente|id paciente|wristband|id band|clinic id|\
            person number|person id|person no|person nbr|historia|hc|dossier|\
            numero de registro|n registro|hn|hn number|mnr|ficha|board no|board number|patient numbers|\
            file numbers|charts|reg no|reg number|registration no|registration number|id no|ref hosp|hosp ref|\
            hospital ref|hospital reference|hospital sticker|patient sticker|patient label|hist|registro|n de registro|\
            armband|hospital band|hospital tag|practice no|tb no|clinic ref|unit ref|clinic file|hosp file|hospital file|\
            couple file|our id|pt identifiers|patient identifiers",
        ),
    ],
    keys: &[(
        Meaning::MrnBeside,
        "record|record id|record number|chart|chart id|file number|folder number|hospital id|subject id|\
         person id|unit number",
    )],
    cues: "",
    number: None,
    weights: &[
        // Shape and evidence, then how sure they make us and the name of the rule.
        (Shape::Value, Evidence::Field, 0.95, "mrn.field"),
        (Shape::Value, Evidence::Label, 0.97, "mrn.labelled"),
        (Shape::Value, Evidence::List, 0.9, "mrn.labelled"),
        (Shape::Value, Evidence::Near, 0.75, "mrn.near"),
        (
            Shape::Value,
            Evidence::VagueLabel,
            0.8,
            "mrn.patient_number",
        ),
        (Shape::Value, Evidence::Stated, 0.7, "mrn.patient_number"),
        (Shape::Value, Evidence::NamedAfter, 0.85, "mrn.named_after"),
        (Shape::Value, Evidence::Patient, 0.85, "mrn.patient_number"),
        (Shape::Value, Evidence::Reference, 0.7, "mrn.reference"),
        (Shape::Value, Evidence::BesideName, 0.65, "mrn.beside_name"),
        (
            Shape::Value,
            Evidence::AmongPeople,
            0.55,
            "mrn.among_people",
        ),
        (Shape::Value, Evidence::Again, 0.7, "mrn.repeated"),
        (Shape::Value, Evidence::Alike, 0.6, "mrn.alike"),
        (Shape::SiteFormat, Evidence::Form, 0.9, "mrn.site_format"),
        (Shape::Spoken, Evidence::Label, 0.9, "mrn.spoken"),
        (Shape::Spelled, Evidence::Label, 0.85, "mrn.spoken"),
    ],
    hits: &[
        "MRN «00412345», 415-555-0134",
        "MRN «00412345», «00498812»",
        "{\"patient\":\"Jane Roe\",\"record_id\":«1234567»}",
        "{\"patient\":{\"name\":\"Jane Roe\"},\"visit\":{\"chart_id\":«88123»}}",
        "record_id,last_name,dob\n«4471902»,Roe,03/14/1962",
        "MRN: «00482913» admitted for chest pain.",
        "medical record number is «E1234567»",
        "chart #«45-01-63»",
        "Old MRN «882019», new one «882733»",
        "MRN «334455» (formerly «112233»)",
        "ID: «4471902»  Name: Jane Roe  DOB: 3/14/1962",
        "Mr. Roe («4471902») in bed 4; Pt: Roe, Jane; «4471903»; seen",
        "«4471902» ROE, JANE 03/14/1962 F CHF",
        "old MRN «882019», new one is «KT-8827331»",
        "(MRN «N0045571»; previously «N0019882»)",
        "Duplicate charts, wrong MRN: «318412» should be merged into «290917».",
        "MRN (outside hospital): «KT-55120»",
        "MRN at referring site: «KT-55120»",
        "Numer pacjenta: «5567812», cartella clinica n. «5567812»",
        "«MRN482913» is hers",
        "Picking up patient #«65878146», from bed 16",
        "ref: Roe/«51550497»/February 17, 2023",
        "Jane Roe, «5819919», is a 6 day old girl",
        "pt. MRN# «MR-00482913», stable",
        "patient ID «7563388»",
        "hospital no. «H 482913»",
        "Hospital # «7741203»",
        "medical record: «X-12345-Z» is hers",
        "MRNs «482913», «482914» and «482915»",
        "Chart no.: «W-3391»",
        "UHID: «APH.0012.88765», UR «1408 2217»",
        "hospital number «QX 551 203».",
        "chart numbers «P-20881» and «P-20882»",
        "1. Roe, Jane («T00-4419») listed",
        "Re: Roe, Jane / «30155698»",
        "M.R. # «771204», M.R.N. «771204»",
        "MRN/Acct: «771204» / 99120334",
        "Acct/MRN: 99120334 / «771204»",
        "Pt acct/MRN «771204»",
        "MRN changed from «771204» to «771240»",
        "merge MRN «771204» into «771240»",
        "WHERE mrn IN ('«771204»','«771240»')",
        "can you pull up «771204»? thats the mrn",
        "MRN «771204»-DOB 3/14/1962",
        "su número de paciente es «771204»",
        "MRN: «44-TR-1029», MRN «2024/11873», MRN «zz-99812», MRN «AB 12 34 56»",
        "patient ID: «1234 5678»",
        "patient's number in our system is «4410928»",
        "looking at patient «4410928» right now",
        "ROE, JANE 67F 10/22/1958 «4410928»",
        "ROE,JANE J   02/09/1934   91 YRS  M   #«00551210»",
        "MRN#s «4410928» & «4410931»",
        "ref «4410928» is her MRN",
        "getPatientByMrn(\"«4410928»\")",
        "«4410928» <- her MRN, and «4410931» = MRN",
        "Need the MRN for Jane Roe.\nIt's «4410928».",
        "Jane Roe in bed 4; Roe («4410928») is stable",
        "What would you do here?\nMRN: «4410928»",
        "Any concerns? Patient ID: «4410928»",
        "MRN: [MRN]«48291378», MRN «48291379»%",
        "{\"mrn\":\"«00482913»\"}",
        "MRN «four eight two nine one three seven»",
        "our «ZQ-4829137» (where the settings give this format)",
        "{\"mrn\":\"«7 B 4 C 2»\"}",
        "Rec no «4471902», folder no «447-1902», Pat.-Nr. «4471902»",
        "look in on Okafor #«4471902» in bed 4",
        "MRN «4471902»: merge with «4471920». She asked why «4471902» has two charts, and «004471902» none.",
        "MRN «B204471» is hers; her sister has «B204417».",
        "File number «K-4471/2018», MRN «9020/2023»",
        "the chart # could be «KT-44719» by now",
        "Chart number on the bracelet reads out as «four four seven one nine oh two».",
        "old chart «4471902», new one «4471977»",
        "IP No.: «IP/23/44719», UMR «UMR0044719», HRN «0447190», ficha «44719»",
        "住院号«44719020», カルテ番号: «0044-7190»",
        "Prontuário: «447.190-2»   D.N.: 14/03/1962",
        "Okafor 67M «4471902» CHF; Re: Okafor, «4471977»",
        "«4471902» - Roe, Jane\nRoe, Mark - «4471977»",
        "ID: «00447190»  Name: Jane Roe\nEarlier films are under another ID, «00447191».",
        "Jane Roe and her sister were mixed up: first is «B2044710».",
        "Two charts for Jane Roe: keep «4471902», retire «4471920».",
        "Could I have the MRN, please?\n«4471902»",
        "Pt Jane Roe again.\n> whose is this? «4471903»\n> asset 4471904, GMC 4471905",
        "Jane Roe fell. In the scanned notes under «KMC 4471902» there is more.",
        "hospital no. «KMCH 447190», MRN «T100 44 318», clinic no «RQ6 0044719»",
        "hosp card «KMC/24/44719», Rio no. «4471902», PAS no «447190», reg. no: «OP44719020»",
        "folder «KMC/P/447» of Jane Roe; Jane Roe, «TA 447 190», and BP 120/80",
        "pt no «E/44719/M», file no. «4471-K-09», pront. «447190-2», H.C. n° «44.719»",
        "hosp no «RX 209 4418», hosp. no. «PNH 773 10 4»; hospital number for transport «BU 61 0094»",
        "MRN «0048-2291» was opened twice, the other is «0048-2219».",
        "Chart «F-1182» is hers, and «F-1190» her sister's.",
        "Jane Roe, card no «UCH/23/009417»; cartella «2024/03391» of Jane Roe; Jane Roe, PID «4471902»",
        "Jane Roe (your number «KT 20 338») is well",
        "patient\n  id: «HN-0023419»\n  display: Jane Roe",
        "looked at pt=«551920» twice",
        "Jane Roe, gait better, mood fair, off sticks, sleeps well; notes under «KMC 4471902», seen again in May",
        "Thank you for referring Jane Roe (ID «00318-7724», female, date of birth 3/14/1962).",
        "Three women: Ana Roe («4471-1»), Bea Poe («4470-8»), Cleo Moe («4398-3»)",
        "patients per consultant\n\nIbbotson  «44719»  Zaman\nOkafor  «44724»  Zaman\nMurphy  «44718»  Okoye",
        "Jane Roe has been seen there, their number «5510-338-Q»",
        "Jane Roe, NHI «ZAB4471», bed ticket «447»",
        "Hospital numbers in the order of arrival: «C/4471», «C/4472»",
        "Name;Geb.;PID\nRoe;14.03.1962;«0004471902»\nPoe;15.03.1962;«0004471903»",
    ],
    misses: &[
        "{\"record_id\":1234567}",
        "{\"chart_id\":88123}",
        "{\"rows\":[{\"recordId\":1234567,\"file_number\":88123,\"subject_id\":\"771204\"}]}",
        ".UR http://www.ietf.org/rfc/rfc1036.txt",
        "Thanks to Jane Roe.\n.hljs-keyword {\n  color: #B21889\n}",
        "OP_NO_SSLv2, OP_NO_SSLv3 = 0x1000000, 0x2000000",
        "pub const S_PT_NO_CONFLICT: u32 = 262145u32;",
        "Thanks to Jane Roe (Closes: #872809,\n    #872811)",
        "mrn=\n09:12:27.124 INFO started",
        "MRN  admitted for chest pain",
        "medical record number, e.g. MRN-0000000",
        "order number 482913",
        "ID: 4471902, status ok; Dr. Roe (4471902)",
        "member ID 482913445",
        "the chart from 2019 shows",
        "record 10-2-1 this season",
        "Account number 4471203 is past due",
        "error in pid=48213",
        "HN 20-44-81 is the hydrant number",
        "staff lockers\n\nIbbotson  44719  Zaman\nOkafor  44724  Zaman\nMurphy  44718  Okoye",
        "Jane Roe, staff no 5510923, payroll no. 00418827; Ana Poe, inmate no. B-88341",
        "PID;USER;TIME\n4471902;root;10:11",
        "chart review 3/14/2024",
        "Pacemaker serial number PJN702913S implanted",
        "penicillin for Jane Roe, 2400000 units, today",
        "mr 10000 units, chart 25000 units",
        "mrn=\n2023-03-14T08:30:00Z INFO started; MPI clean-up 2023-03",
        "lot B204417, order number 4471902",
        "Jane Roe wrote in ticket INC0044719, order B2044710.",
        "Jane Roe, G2P1001, case 25-01944, works 0700-1900, asset 4471904, GMC 4471905.",
        "Jane Roe, bar no. 118204, pump s/n 9731120, stock nos. 000664, IRAS 288104, there 1999-2006",
        "OR2 0730 Jane Roe, hernia; she was in the navy, 1972-81; write to D-77709 Oberwolfach",
        "Dr. Ana Poe saw Jane Roe, Z38.00; a chair, one arm replaced / 150-200; she is at 555-0142",
    ],
    spelling: Spelling::Code,
    generalize: None,
    precedence: 0.28,
};

"""Values for template slots: words of medicine and of the world that are not PHI, and makers of PHI."""

import datetime

MONTHS = "January February March April May June July August September October November December".split()
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday Mon Tues Wed Thurs Fri Sat Sun".split()
STREET_TYPES = (
    "St Ave Rd Dr Ln Blvd Ct Way Pl Ter Cir Pkwy Hwy Trl Loop Street Avenue Road Drive Lane Boulevard Court Place "
    "Terrace Circle Parkway Highway Trail Square Run Ridge Path Crossing Alley Row Cove Point Plaza Turnpike Pike Close "
    "Crescent Mews Walk Bend Hollow Pass Knoll Glen Landing Manor Meadow Track View Vista Expressway Causeway Bypass "
    "Dam Brook Ranch Creek Neck Burg Burgs Camp Canyon Cape Club Common Corner Course Curve Dale Divide Drives Estate Falls "
    "Ferry Field Fields Flat Flats Ford Forest Forge Fort Freeway Gardens Gateway Green Greens Groves Harbor Haven Heights Hill "
    "Hills Inlet Island Isle Junction Key Keys Lake Lakes Land Light Lodge Mall Meadows Mills Mission Motorway Mount Mountain "
    "Orchard Oval Overpass Parks Passage Pines Plain Plains Plazas Port Prairie Radial Ramp Rest Rue Shore Skyway Spring Stream "
    "Summit Throughway Trace Trafficway Trailer Underpass Union Unions Valley Village Ville Wall Ways Well Wells "
    "Locks Extension Fork Station Springs Spur Villages Stravenue Tunnel Viaduct Rapids Shoals Mill Motorway "
    "St. Ave. Rd. Dr. Ln. Blvd. Ct. Pl. Hwy. Pkwy."
).split()
STREET_WORDS = (
    "Oak Maple Pine Cedar Elm Walnut Main Park Washington Lake Hill Chestnut Spring River Church Market Broad Center "
    "Union Highland Forest Jackson Lincoln Madison Jefferson Franklin Prospect Sunset Railroad Willow Mill Magnolia "
    "Meadow Dogwood Birch Hickory Cherry Locust Sycamore Poplar Valley Ridge Orchard Garden Grove College School "
    "Cherokee Heather Juniper Bayview Harbor Ocean Beach Peachtree Canyon Desert Mesa Laurel Holly Ash Spruce Fern "
    "Quarry Windmill Foxglove Heron Copper Granite Lantern Bluebonnet Larkspur Stonegate Timber Old Mission King Queen"
).split()
STATES = (
    "AL AK AZ AR CA CO CT DE FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND OH OK OR PA "
    "RI SC SD TN TX UT VT VA WA WV WI WY DC PR Texas Ohio Florida California Michigan Virginia Georgia Oregon Nevada"
).split()
DRUGS = (
    "metformin lisinopril atorvastatin amlodipine metoprolol omeprazole losartan albuterol gabapentin sertraline "
    "simvastatin montelukast escitalopram rosuvastatin bupropion furosemide trazodone duloxetine prednisone tamsulosin "
    "warfarin clopidogrel apixaban rivaroxaban insulin semaglutide tirzepatide empagliflozin sitagliptin glipizide "
    "Lantus Humalog Ozempic Wegovy Mounjaro Jardiance Farxiga Januvia Eliquis Xarelto Lipitor Crestor Norvasc Zoloft "
    "Lexapro Prozac Paxil Celexa Wellbutrin Effexor Cymbalta Abilify Seroquel Zyprexa Risperdal Lamictal Depakote "
    "Keppra Topamax Neurontin Lyrica Ativan Xanax Klonopin Valium Ambien Tylenol Motrin Advil Aleve Norco Percocet "
    "Vicodin Dilaudid OxyContin Zofran Phenergan Reglan Pepcid Nexium Protonix Prilosec Lasix Bumex Aldactone Coreg "
    "Toprol Cardizem Coumadin Plavix Augmentin Keflex Rocephin Zosyn vancomycin vanco Levaquin Cipro Bactrim Flagyl "
    "doxycycline azithromycin Z-Pak amoxicillin cefdinir Humira Enbrel Remicade Stelara Dupixent Keytruda Opdivo "
    "Herceptin Avastin Rituxan tamoxifen Arimidex letrozole Synthroid levothyroxine Armour methimazole Fosamax Prolia "
    "Singulair Advair Symbicort Spiriva Flovent Trelegy Zyrtec Claritin Allegra Benadryl Flonase Suboxone naloxone "
    "Narcan methadone Haldol lithium clozapine Adderall Ritalin Vyvanse Concerta Strattera Viagra Cialis Premarin "
    "estradiol Depo-Provera Mirena Nexplanon Yaz Imitrex Maxalt Nurtec Ubrelvy Xolair Lovenox heparin Levophed Precedex "
    "propofol ketamine fentanyl Versed Solu-Medrol Decadron Kayexalate Entresto Brilinta Repatha Praluent Biktarvy "
    "Descovy Truvada Paxlovid Tamiflu Gardasil Prevnar Shingrix Boostrix Pediarix Plan-B Yasmin Jolivette Camila Aviane "
    "Junel Errin Heather Apri Nora-BE Sprintec Loryna Elavil Remeron Buspar Vistaril Zanaflex Flexeril Soma Mobic Toradol"
).split()
DISEASES = """hypertension|HTN|type 2 diabetes|T2DM|asthma|COPD|CHF|atrial fibrillation|afib|GERD|migraine|hypothyroidism|
depression|anxiety|pneumonia|UTI|sepsis|cellulitis|gout|osteoarthritis|lung cancer|CKD stage 3|cirrhosis|hepatitis C|
Parkinson's disease|Parkinson disease|Parkinson's|Crohn's disease|Crohn disease|Alzheimer's disease|Alzheimer dementia|
Hodgkin lymphoma|non-Hodgkin's lymphoma|Graves disease|Graves' disease|Hashimoto's thyroiditis|Cushing syndrome|
Addison's disease|Bell's palsy|Huntington disease|Raynaud's phenomenon|Sjogren's syndrome|Sjögren syndrome|
Tourette syndrome|Down syndrome|Turner syndrome|Marfan syndrome|Guillain-Barre syndrome|Wilson's disease|
Kawasaki disease|Lyme disease|Meniere's disease|Wegener's granulomatosis|Barrett's esophagus|Paget's disease|
Kaposi sarcoma|Burkitt lymphoma|Wilms tumor|Ewing sarcoma|Baker's cyst|Charcot foot|Colles fracture|Jones fracture|
Still's disease|Behcet's|Dupuytren contracture|Peyronie's disease|Ehlers-Danlos syndrome|Charcot-Marie-Tooth|
Lou Gehrig's disease|Wolff-Parkinson-White|Brugada syndrome|Takotsubo cardiomyopathy|Wernicke encephalopathy|
Korsakoff syndrome|Asperger's|Klinefelter syndrome|Gilbert's syndrome|Mallory-Weiss tear|Zenker diverticulum|
Osgood-Schlatter|Legg-Calve-Perthes|Hirschsprung disease|Meckel's diverticulum|von Willebrand disease|
Waldenstrom macroglobulinemia|Reye syndrome|Stevens-Johnson syndrome|Horner syndrome|Chiari malformation|Tay-Sachs|
Gaucher disease|Fabry disease|Conn syndrome|Epstein-Barr virus|Coxsackie virus|Rocky Mountain spotted fever|Pott disease|
Pick disease|Rett syndrome|Noonan syndrome|Williams syndrome|Angelman syndrome|Prader-Willi syndrome|Kallmann syndrome|
Sheehan syndrome|Budd-Chiari|Goodpasture syndrome|Henoch-Schonlein purpura|Felty syndrome|Dressler syndrome|
Ludwig's angina|Fournier gangrene|Boerhaave syndrome|Barlow disease|Peutz-Jeghers|Lynch syndrome|Gardner syndrome|
Alport syndrome|Bartter syndrome|Hansen disease|Chagas disease|Whipple disease|Morton's neuroma|Haglund deformity|
de Quervain's tenosynovitis|Scheuermann kyphosis|Creutzfeldt-Jakob disease|Lewy body dementia|Todd's paralysis|
Bright's disease|Hunter syndrome|Hurler syndrome|Sanfilippo syndrome|Crigler-Najjar|Dubin-Johnson|Caroli disease"""
TESTS = """Foley catheter|Foley|Swan-Ganz catheter|Hickman line|Jackson-Pratt drain|JP drain|Penrose drain|Whipple procedure|
Roux-en-Y|Nissen fundoplication|Glasgow Coma Scale|Apgar score|Apgars 8 and 9|Babinski sign|Romberg|Murphy's sign|
McBurney's point|Kernig|Brudzinski|Homans sign|Lachman test|McMurray test|Phalen's test|Tinel's sign|Finkelstein test|
Weber test|Rinne|Snellen chart|Trendelenburg position|Fowler's position|Valsalva maneuver|Heimlich maneuver|
Epley maneuver|Dix-Hallpike|Allen's test|Kocher clamp|Kelly clamp|Allis clamps|Mayo stand|Bovie|Balfour retractor|
Metzenbaum scissors|DeBakey forceps|Mohs surgery|Pap smear|Gram stain|Wright stain|Holter monitor|Doppler|Wood's lamp|
Kegel exercises|Ace wrap|Bair Hugger|Hoyer lift|Braden scale|Wells score|Child-Pugh class B|Gleason 3+4|Breslow depth|
Karnofsky 80|Mallampati II|Killip class II|Duke criteria|Fitzpatrick type II|Tanner stage IV|Salter-Harris II|Garden III|
Weber B ankle fracture|Lisfranc|Bankart repair|Hill-Sachs lesion|Bristol stool type 6|Cockcroft-Gault|Kussmaul breathing|
Cheyne-Stokes respirations|Bence Jones protein|Coombs test|Schirmer|Denver II|Kirschner wire|K-wire|Steinmann pin|
Steri-Strips|Vicryl|Monocryl|Prolene|Hemovac|Veress needle|Hasson technique|Bookwalter|colonoscopy|EGD|MRI brain|CT chest|
chest x-ray|echo|stress test|EKG|lumbar puncture|biopsy|dialysis|appendectomy|cholecystectomy|knee replacement|C-section|
cataract surgery|PT evaluation|Bishop score 6|Leopold maneuvers|McRoberts maneuver|Kiwi vacuum|Simpson forceps|Bakri balloon|
Levin tube|Dobhoff|Salem sump|Yankauer suction|Ambu bag|Macintosh blade|Miller 2 blade|Bougie|Tuohy needle|Quincke needle|
Bier block|Mapleson circuit|Billroth II|Hartmann procedure|Ivor Lewis esophagectomy|Fontan|Glenn shunt|Blalock-Taussig shunt|
Norwood|Ross procedure|Bentall|Maze procedure|Lichtenstein repair|Puestow|Ladd procedure|Kasai|Ponseti casting|Pavlik harness"""
SYMPTOMS = """chest pain|shortness of breath|SOB|abdominal pain|fever|cough|headache|dizziness|nausea and vomiting|back pain|rash|
knee pain|sore throat|fatigue|palpitations|weakness|blurry vision|trouble sleeping|swelling in both legs|dysuria|joint pain|
hives|tingling in my feet|a lump|bleeding gums|night sweats|chills|bloating|constipation|diarrhea|hair loss|falls|confusion"""
LABS = """hemoglobin 9.2|K 5.8|creatinine 1.9|A1c 8.1|A1C|WBC 14.2|troponin 0.04|INR 2.5|lactate 3.1|TSH 4.2|glucose 212|Na 128|
platelets 88|CRP 45|BNP 900|CBC|BMP|CMP|lipid panel|urinalysis|blood cultures|ANA|PSA 4.5|vitamin D|ferritin|hCG|eGFR 42"""
FACILITIES = """Mercy Medical Center|St. Mary's Hospital|Riverside Family Practice|Lakeview Rehabilitation|Harbor Light Clinic|
Sunrise Senior Living|VA Medical Center|Children's Hospital|Good Samaritan Hospital|Duke University Hospital|Mass General|
Henry Ford Hospital|Lincoln High School|Wilson Elementary|Washington University|Franklin Middle School|Walgreens|CVS|Rite Aid|
Jefferson Montessori|St. Jude|Johns Hopkins|Mayo Clinic|Cleveland Clinic|Cedars-Sinai|Mount Sinai|MD Anderson|Dana-Farber|
Quest Diagnostics|LabCorp|Memorial Hermann|Barnes-Jewish|Beth Israel|Brigham and Women's|Emory|Vanderbilt|Geisinger|
Kaiser Permanente|Martin Luther King Hospital|John Peter Smith Hospital|Thomas Jefferson University Hospital|Bellevue|
Parkland|Grady|Cook County|Ben Taub|Harborview|Santa Clara Valley|San Francisco General|Holy Cross|Trinity Health|Sacred Heart|
Montgomery Nursing Home|Bishop Gorman High School|Walter Reed|Roswell Park|Fred Hutch|Lurie Children's|Nemours|Boys Town"""
INSURERS = """Blue Cross Blue Shield|BCBS|Aetna|Cigna|UnitedHealthcare|UHC|Humana|Medicare|Medicaid|Anthem|Tricare|Kaiser|Molina|
Oscar|Ambetter|Centene|Wellcare|Elevance|Medi-Cal|Geico|State Farm|Progressive|Liberty Mutual|MetLife|John Hancock|Lincoln Financial"""
EPONYMS = "Parkinson Crohn Alzheimer Hodgkin Graves Hashimoto Cushing Addison Bell Huntington Raynaud Turner Wilson Paget Barrett Baker Jones Glasgow Apgar Murphy Kelly Mayo Ranson Wells Duke Braden Gleason Tanner Foley Swan Hickman Jackson Penrose Whipple Nissen Virchow Beck Charcot Osler Janeway Quincke Corrigan Austin Flint Graham Steell Still Carey Coombs Levine Lewis Kerley Hampton Westermark Rigler Chilaiditi Courvoisier Cullen Grey Turner Rovsing Blumberg Psoas Chvostek Trousseau Hoffmann Lhermitte Spurling Hawkins Neer Speed Yergason Thompson Ober Thomas Trendelenburg Barlow Ortolani Galeazzi".split()
RELATIONS = "mother father wife husband daughter son sister brother partner niece nephew aunt uncle grandmother grandfather granddaughter caregiver neighbor friend guardian spouse mom dad cousin roommate boyfriend girlfriend stepmother stepfather foster mom grandson mother-in-law ex-wife landlord coworker fiancé".replace("foster mom", "foster_mom").split()
CREDENTIALS = "MD M.D. DO RN NP PA-C PharmD PhD DDS LCSW FNP-BC DNP APRN DPM OD MPH PT OTR/L LPN CNM LMFT BSN CRNA PsyD".split()
ROLES = "attending surgeon nurse pharmacist cardiologist oncologist resident hospitalist dietitian pediatrician neurologist psychiatrist therapist radiologist".split()
COUNTRIES = "Mexico India China Vietnam Nigeria Brazil Canada Haiti Jordan Georgia Chad Israel Kenya Guatemala Philippines Ukraine".split()
PLACES = (
    "Argentina Australia Austria Bangladesh Belgium Bolivia Bulgaria Cambodia Chile Colombia Croatia Cuba Cyprus Denmark Ecuador Egypt "
    "England Estonia Ethiopia Finland France Germany Ghana Greece Honduras Hungary Iceland Indonesia Iran Iraq Ireland Italy Jamaica Japan "
    "Korea Latvia Lebanon Libya Lithuania Malaysia Malta Morocco Nepal Netherlands Nicaragua Norway Pakistan Panama Peru Poland Portugal "
    "Romania Russia Rwanda Scotland Senegal Serbia Singapore Slovenia Somalia Spain Sudan Sweden Switzerland Syria Taiwan Tanzania Thailand "
    "Tunisia Turkey Uganda Uruguay Venezuela Wales Yemen Zambia Zimbabwe Paris London Berlin Madrid Rome Verona Milan Vienna Prague Warsaw "
    "Lisbon Dublin Athens Cairo Lagos Nairobi Karachi Peshawar Lahore Delhi Mumbai Chennai Kolkata Dhaka Bangkok Hanoi Jakarta Manila Tokyo "
    "Osaka Seoul Beijing Shanghai Sydney Melbourne Auckland Toronto Montreal Vancouver Havana Lima Bogota Quito Santiago Oslo Stockholm "
    "Helsinki Copenhagen Zurich Geneva Basel Munich Hamburg Cologne Lambeth Hackney Oxford Cambridge Bristol Leeds Glasgow Edinburgh Cardiff "
    "Indian Pakistani Bangladeshi Chinese Mexican Nigerian Vietnamese Somali Polish German French Italian Spanish Turkish Iranian African "
    "Caribbean Hispanic Latino Asian European American Canadian British Irish Scottish Dutch Swedish Norwegian Greek Russian Ukrainian Filipino"
).split()
BRANDS = """Burger King|Taco Bell|Wendy's|Applebee's|McDonald's|Starbucks|Dunkin|Target|Costco|Walmart|Kroger|Safeway|Aldi|IKEA|Home Depot|
Lowe's|Kohl's|Macy's|Nordstrom|Trader Joe's|Whole Foods|Chick-fil-A|Arby's|Denny's|Hardee's|Popeyes|Domino's|Papa John's|Little Caesars|
Tim Hortons|Ben & Jerry's|Häagen-Dazs|Oscar Mayer|Aunt Jemima|Betty Crocker|Sara Lee|Mrs. Butterworth's|Captain Crunch|Dr. Bronner's|
Calvin Klein|Ralph Lauren|Tommy Hilfiger|Tom Ford|Marc Jacobs|Hugo Boss|Harley Davidson|John Deere|Ford|Tesla|Honda|Mercedes|Chevrolet|
Charles Schwab|Morgan Stanley|JPMorgan|Wells Fargo|Chase|Fidelity|Vanguard|Netflix|Spotify|Twitter|Facebook|Chrome|Firefox|Siri|Alexa"""
LANGUAGES = "Python JavaScript SQL Java Rust Go TypeScript C# R Kotlin".split()
HONORIFICS = "Mr. Mr Mrs. Mrs Ms. Ms Miss Mr. Mrs. Ms. Sr. Sra. Sir Madam Rev. Sgt. Capt. Prof. Hon. Mx. Don Doña Sister Father Uncle Aunt Auntie Tía Abuela".split()


def split(text):
    return [part.strip() for part in text.replace("\n", "").split("|")]


DISEASES, TESTS, SYMPTOMS, LABS, FACILITIES, INSURERS, BRANDS = map(
    split, (DISEASES, TESTS, SYMPTOMS, LABS, FACILITIES, INSURERS, BRANDS))
RELATIONS = [relation.replace("_", " ") for relation in RELATIONS]


DRUG_STARTS = "ro ve lo ta zi ky pra xel du fli tri cor bel mi ne so ga ru li ter cal ad ox nu pe al be to zo lu qui evo".split()
DRUG_MIDDLES = "ra li to va mi ne xi do zo ta lu ri ze co pa fe nu sa bo vi".split()
DRUG_ENDS = (
    "mab zumab tinib ciclib pril sartan olol statin azole cillin mycin floxacin cycline gliptin gliflozin glutide prazole "
    "tidine setron triptan zepam zolam barbital oxetine ipramine azine idone caine dronate parin xaban grel vir navir tegravir "
    "lukast phylline terol sone olone estrel fibrate thiazide semide lamide pine sin tine din rin zine mide done phen codone "
    "morphone fen profen ac oxicam trexate platin rubicin taxel bicin stim poetin ast era ia or ix ta za va yl ex is io qo ny"
).split()
BODY = (
    "syndrome disease sign test criteria score scale stain procedure needle clamp forceps retractor catheter tube fracture "
    "lesion cyst tumor palsy reflex phenomenon triad maneuver incision approach classification stage index nodule angle line "
    "murmur rash fever virus anemia dystrophy ataxia sarcoma lymphoma carcinoma hernia deformity contracture rod plate screw "
    "drain shunt graft flap repair technique protocol method equation formula ratio trial study questionnaire inventory syndrome "
    "disease syndrome disease type type variant cell cells medium agar buffer blot antibody gene rats mice cells receptor channel bodies cells node valve"
).split()


def invented_drug(r):
    """A drug name that may not exist: generic or brand."""
    word = r.choice(DRUG_STARTS) + "".join(r.choice(DRUG_MIDDLES) for _ in range(r.randint(0, 2))) + r.choice(DRUG_ENDS)
    return word if r.random() < 0.6 else word.capitalize() + r.choice(["", "", "", " XR", " ER", " SR", " HFA", "-D"])


def acronym(r):
    return "".join(r.choice("ABCDEFGHILMNOPRSTUVWX") for _ in range(r.choice([2, 3, 3, 3, 4, 4, 5]))) + r.choice(["", "", "", "s"])


def ordinal(number):
    return f"{number}" + ("th" if 11 <= number % 100 <= 13 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th"))


WORDS = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth".split()


def spoken(number):
    if number < 20:
        return WORDS[number]
    return TENS[number // 10 - 2] + ("" if number % 10 == 0 else " " + WORDS[number % 10])


def spoken_day(day):
    if day <= 20:
        return ORDINALS[day - 1]
    return "thirtieth" if day == 30 else ("twenty " if day < 30 else "thirty ") + ORDINALS[day % 10 - 1]


def spoken_date(date):
    year = date.year
    years = ("two thousand" + (" " + spoken(year % 100) if year % 100 else "")) if 2000 <= year < 2010 else \
        spoken(year // 100) + " " + (spoken(year % 100) if year % 100 >= 10 else "oh " + spoken(year % 100) if year % 100 else "hundred")
    return f"{MONTHS[date.month - 1]} {spoken_day(date.day)}, {years}"


def birth_date(r):
    return datetime.date(r.choice([r.randint(1925, 2025), r.randint(1935, 2005)]), r.randint(1, 12), r.randint(1, 28))


def other_date(r):
    return datetime.date(r.choice([2026, 2025, 2024, 2023, 2026, 2025, r.randint(1980, 2027), r.randint(2005, 2027)]),
                         r.randint(1, 12), r.randint(1, 28))


def full_date(r, date):
    """A date with day, month and year, in one of many forms."""
    y, m, d = date.year, date.month, date.day
    month, short = MONTHS[m - 1], MONTHS[m - 1][:3]
    if r.random() < 0.04:
        return spoken_date(date)
    return r.choice(
        [f"{m:02}/{d:02}/{y}"] * 6 + [f"{m}/{d}/{y}"] * 5 + [f"{m}/{d}/{y % 100:02}"] * 4 + [f"{m:02}-{d:02}-{y}"] * 2
        + [f"{y}-{m:02}-{d:02}"] * 4 + [f"{month} {d}, {y}"] * 4 + [f"{short} {d}, {y}"] * 2
        + [f"{d} {month} {y}", f"{d}-{short}-{y}", f"{d} {short} {y}", f"{m:02}.{d:02}.{y}", f"{d:02}.{m:02}.{y}",
           f"{month} {ordinal(d)}, {y}", f"{month} {ordinal(d)} {y}", f"the {ordinal(d)} of {month}, {y}",
           f"{ordinal(d)} {month} {y}", f"{y}/{m:02}/{d:02}", f"{d:02}/{m:02}/{y}", f"{short}. {d}, {y}",
           f"{m} / {d} / {y}", f"{m:02}/{d:02}/{y % 100:02}", f"{month} {d} {y}", f"{m}-{d}-{y % 100:02}",
           f"{short}-{d:02}-{y}", f"{d}{short.upper()}{y}", f"{m} {d} {y}", f"{m:02}{d:02}{y}", f"{short} {d} {y}",
           f"{d:02}-{m:02}-{y}", f"{m}.{d}.{y % 100:02}", f"{month} {d:02}, '{y % 100:02}"]
    )


def any_date(r, date):
    """A date that may lack its year or day."""
    y, m, d = date.year, date.month, date.day
    month, short = MONTHS[m - 1], MONTHS[m - 1][:3]
    if r.random() < 0.62:
        return full_date(r, date)
    return r.choice([f"{m}/{d}"] * 4 + [f"{month} {d}"] * 3 + [f"{short} {d}", f"{month} {y}", f"{m}/{y}", f"{d} {short}",
                     f"{month} {ordinal(d)}", f"{y}{m:02}{d:02}", f"the {ordinal(d)} of {month}", f"{m:02}-{d:02}"])


def birthday(r, date):
    """A birthday, with or without the year."""
    m, d = date.month, date.day
    month = MONTHS[m - 1]
    return r.choice([f"{month} {d}", f"{month} {ordinal(d)}", f"{month[:3]} {d}", f"{m}/{d}", f"{d} {month}",
                     f"the {ordinal(d)} of {month}", f"{month} {d:02}", full_date(r, date)])


def mistyped(r, word):
    """An ordinary word as somebody in a hurry types it: a letter lost, doubled, swapped or hit beside."""
    if len(word) < 4:
        return word
    at = r.randrange(1, len(word) - 1)
    return r.choice([word[:at] + word[at + 1:], word[:at] + word[at] + word[at:], word[:at] + word[at + 1] + word[at] + word[at + 2:],
                     word[:at] + r.choice("abcdefghiklmnoprstuvwy") + word[at + 1:]])

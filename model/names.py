"""People's names by origin, and lists for the lexicon. `prepare.py` stores the result as lists.json.

Sources: public-domain US census lists (1990), name lists of libpostal (MIT) and Philter (BSD-3),
locale data of Faker (MIT), and the small romanised lists below, written for this project.
One name in sixteen, chosen by hash, is held out of training and lexicon, to measure unseen names.
"""

import hashlib
import random
import re


def is_held_out(name):
    return int(hashlib.md5(name.lower().encode()).hexdigest()[:8], 16) % 16 == 3


# origin: (given names, surnames); for Chinese, Korean and Vietnamese also syllables to combine.
ROMANISED = {
    "chinese": (
        "Wei Fang Jing Min Xiaoming Na Yan Hui Jun Ying Mei Qiang Xiu Hao Zhihao Yuxuan Ming Xin Yifan Jiaqi Ruoxi "
        "Tingting Guoqiang Zhen Chunhua Haoran Siyu Lihua Jianguo Weidong Xiaoyan Yuting Zixuan Mengyao Shufen Guiying",
        "Wang Li Zhang Liu Chen Yang Huang Zhao Wu Zhou Xu Sun Ma Zhu Hu Guo He Lin Gao Luo Zheng Liang Xie Tang Song "
        "Deng Han Feng Cao Peng Zeng Xiao Tian Dong Pan Yuan Cai Jiang Yu Du Ye Cheng Wei Su Lu Ding Ren Shen Yao "
        "Ouyang Situ Chan Wong Cheung Lau Leung Ng Kwok Tsang Chow Yip Mak Fung Hui Tse Szeto Au Tam Lam Lo Kwan",
    ),
    "korean": (
        "Min-jun Seo-yeon Ji-woo Ha-eun Hyun-woo Soo-jin Eun-ji Sung-min Kyung-hee Young-ho Jin-ho Mi-sook Hye-jin "
        "Jae-won Yuna Jihoon Minseok Seung-hyun Bora Dong-hyun Hae-won Sang-woo Yoo-jin Chul-soo",
        "Kim Lee Park Choi Jung Kang Cho Yoon Jang Lim Han Oh Seo Shin Kwon Hwang Ahn Song Yoo Hong Moon Bae Baek Nam "
        "Noh Ha Kwak Chung Pak Rhee Yim Suh",
    ),
    "japanese": (
        "Hiroshi Yuki Takashi Kenji Aiko Haruka Sakura Naoko Satoshi Keiko Yoko Akira Daisuke Emi Kaori Masahiro "
        "Noriko Ren Sota Tomoko Yumi Kazuo Ryo Hana Shigeru Michiko Taro Ayumi Kiyoshi Chiyo",
        "Sato Suzuki Takahashi Tanaka Watanabe Ito Yamamoto Nakamura Kobayashi Kato Yoshida Yamada Sasaki Yamaguchi "
        "Matsumoto Inoue Kimura Hayashi Shimizu Saito Mori Abe Ikeda Hashimoto Ishikawa Ogawa Okada Fujita Goto "
        "Hasegawa Murakami Kondo Endo Aoki Nishimura Fukuda Miura Okamoto",
    ),
    "vietnamese": (
        "Anh Minh Linh Hoa Thanh Tuan Huong Lan Phuong Quang Duc Hanh Thao Trang Hung Nga Bao Khanh Ngoc Long Dung My "
        "Quynh Hieu Hai Nam Son Tam Tien Yen Kim Xuan Hong Diem Loan Vinh Phuc Binh Cuong Dao",
        "Nguyen Tran Le Pham Hoang Huynh Phan Vu Vo Dang Bui Do Ho Ngo Duong Ly Dinh Truong Mai Lam Trinh Doan Luong "
        "Cao Ta Thai Quach Tong",
    ),
    "arabic": (
        "Mohammed Ahmed Fatima Aisha Omar Yusuf Khalid Hassan Layla Zainab Ibrahim Abdullah Mariam Noor Ali Hussein "
        "Samira Tariq Amina Bilal Rania Karim Salma Nadia Faisal Jamal Abdulrahman Huda Yasmin Mustafa Hamza Muhammad "
        "Mohamed Zahra Khadija Saeed Walid Lina Dalia Hala Rashid Ziad Maha Nawal Sami Adnan Basma Ghada Qasim Suha",
        "Al-Sayed Al-Farsi Haddad Khoury Mansour Nasser Rahman Hussain Siddiqui Saleh Aziz El-Masri Al-Hashimi Najjar "
        "Qureshi Malik Hamdan Bakr Darwish Abu-Bakr Elhassan Shaheen Barakat Al-Amin Saad Habib Sabbagh Azar Fakhoury "
        "El-Sayed Abdelrahman Al-Rashid Hijazi Bitar Kanaan Taha Zaki Alawi Sultan Jaber Obeid Ghanem Al-Khatib Said",
    ),
    "persian_turkish": (
        "Reza Farhad Shirin Parisa Dariush Nasrin Kaveh Mahsa Behrouz Laleh Cem Elif Mehmet Ayşe Emre Zeynep Burak "
        "Deniz Fatma Hakan Selin Serkan Yılmaz Golnaz Arash Sohrab",
        "Hosseini Ahmadi Karimi Rezaei Moradi Tehrani Farahani Shirazi Yılmaz Kaya Demir Şahin Çelik Öztürk Arslan "
        "Doğan Kılıç Aydın Tavakoli Nazari Sadeghi Golestani",
    ),
    "indian": (
        "Priya Rahul Anjali Arjun Deepak Sunita Vikram Kavita Sanjay Lakshmi Rajesh Meena Ravi Pooja Amit Neha Suresh "
        "Divya Harpreet Gurpreet Venkatesh Aarav Ishaan Saanvi Manjunath Padma Srinivas Jaspreet Parth Kiran Swati "
        "Nikhil Ananya Rohan Sneha Karthik Bhavana Gopal Usha Mukesh Rekha Vijay Shanti Om Dev Jyoti Asha",
        "Patel Sharma Singh Kumar Gupta Reddy Iyer Nair Desai Mehta Joshi Rao Chatterjee Banerjee Mukherjee Das Bose "
        "Agarwal Kapoor Malhotra Chopra Verma Mishra Pandey Naidu Menon Pillai Krishnamurthy Venkataraman Subramanian "
        "Gill Dhillon Sandhu Bhatt Trivedi Kulkarni Deshpande Gowda Shah Jain Bhattacharya Ramachandran Chaudhary "
        "Sengupta Saxena Srivastava Tripathi Viswanathan Balakrishnan Ghosh Dutta Ahluwalia",
    ),
    "african": (
        "Abebe Tigist Selam Dawit Bekele Yonas Meseret Getachew Almaz Kebede Haile Girma Chidi Ngozi Emeka Adaeze "
        "Oluwaseun Folake Tunde Yetunde Babatunde Chinedu Ifeoma Kwame Ama Kofi Abena Akosua Yaw Esi Wanjiru Kamau "
        "Njeri Otieno Achieng Mwangi Wambui Juma Neema Thabo Sipho Nomsa Lindiwe Zanele Mamadou Aminata Fatoumata "
        "Ousmane Moussa Ibrahima Abdi Hodan Faduma Asha Warsame Khadra Tendai Rudo Tapiwa Chipo Amara Nkechi Uche "
        "Nomvula Nokuthula Nomthandazo Nosipho Nonhlanhla Nobuhle Ntombizodwa Sibongile Thandeka Thulani Sizwe Sibusiso "
        "Mandla Bheki Bhekithemba Bhekumuzi Siphiwe Sandile Vusi Vusumuzi Lungile Zodwa Gugu Bongani Mthunzi Mzwandile "
        "Lerato Palesa Tshepo Kagiso Refilwe Boitumelo Katlego Neo Puleng Ayanda Xolani Luthando Zukiswa Nomalizo Andile "
        "Onyeka Obinna Ikenna Chukwuemeka Ugochukwu Chiamaka Chinonso Ebere Ogechi Ifeanyi Nnamdi Kelechi Adaobi Olumide "
        "Temitope Bukola Kehinde Taiwo Oluwatobi Adebola Ayodele Omolara Titilayo Kunle Segun Funmilayo Abiodun Afolabi "
        "Kwabena Kwaku Adwoa Afia Yaa Akua Efua Kojo Nana Akosua Wambua Nyambura Muthoni Wairimu Kipchoge Cheptoo Jepkosgei "
        "Atieno Anyango Ouma Okoth Barasa Nafula Wekesa Makena Mumbua Baraka Zawadi Rehema Upendo Imani Salum Mwajuma "
        "Tsegaye Hirut Yeshi Workneh Birhanu Alemayehu Tewodros Genet Zewdu Hiwot Berhane Mehari Filmon Awet Senait "
        "Tafadzwa Farai Tatenda Nyasha Rutendo Chenai Tawanda Kudzai Munashe Simbarashe Thokozani Chimwemwe Mphatso Limbani "
        "Awa Fanta Djeneba Bintou Seydou Boubacar Modibo Mariama Kadiatou Salimata Ndeye Cheikh Assane Abdoulaye Binta "
        "Ayaan Deeqa Hibo Sahra Nasteexo Liban Guled Jirde Mahad Ifrah Hamdi Idil Uwimana Mukamana Habimana Niyonzima",
        "Tadesse Tesfaye Gebremedhin Alemu Mekonnen Desta Wolde Assefa Okafor Okonkwo Adeyemi Adebayo Eze Nwosu Obi "
        "Nwachukwu Ogunleye Balogun Mensah Owusu Asante Boateng Osei Appiah Kamau Mwangi Odhiambo Otieno Kariuki "
        "Mutua Dlamini Nkosi Ndlovu Khumalo Mokoena Diallo Traore Keita Coulibaly Diop Ndiaye Sow Ba Cisse Mohamud "
        "Abdi Farah Warsame Hersi Moyo Chikwanha Mugabe Banda Phiri Mwale Achebe Chukwu Onyango Wanjala Bah Sesay "
        "Mthembu Zulu Sithole Mkhize Buthelezi Cele Ngcobo Mabaso Shabalala Zungu Hlongwane Mthethwa Molefe Mofokeng "
        "Tshabalala Radebe Motaung Sekgala Mashaba Maluleke Baloyi Chauke Nkuna Mnguni Gumede Xaba Zwane Dube Nyoni Ncube "
        "Okoye Okeke Onwudiwe Nwankwo Obiora Umeh Anyanwu Chukwuma Ezeigbo Ibekwe Adesina Adewale Akinola Akintola Oyelaran "
        "Oladipo Olawale Fashola Ogunbanjo Babangida Danjuma Yakubu Amoako Ofori Sarpong Agyeman Opoku Addo Quaye Annan "
        "Ansah Frimpong Karanja Njoroge Kimani Waweru Gichuru Ochieng Ouma Okello Akech Lubega Mukasa Ssempala Nakato "
        "Haile Gebreselassie Woldemariam Bekele Girma Negash Tsegay Abebe Worku Demissie Yohannes Ghebremeskel Tekle "
        "Camara Sangare Konate Sidibe Toure Barry Balde Fofana Kante Ndour Gueye Mbaye Sarr Faye Habyarimana Nkurunziza "
        "Ngabo Mutesi Chirwa Kamanga Tembo Zimba Mulenga Chanda Kapembwa Mutasa Chiweshe Gumbo Sibanda Ndebele",
    ),
    "hispanic": (
        "José María Juan Guadalupe Luis Carmen Carlos Ana Miguel Rosa Jesús Alejandra Jorge Verónica Pedro Leticia "
        "Rafael Silvia Raúl Yolanda Fernando Esperanza Ramón Graciela Arturo Xochitl Ignacio Maribel Héctor Lourdes "
        "Joaquín Consuelo Ernesto Dolores Ángel Socorro Refugio Concepción Itzel Citlali Yesenia Yadira Ximena Santos",
        "García Martínez Rodríguez López Hernández González Pérez Sánchez Ramírez Torres Flores Rivera Gómez Díaz Cruz "
        "Morales Reyes Gutiérrez Ortiz Chávez Ramos Ruiz Mendoza Álvarez Castillo Jiménez Vásquez Romero Herrera "
        "Medina Aguilar Vargas Guzmán Muñoz Salazar Soto Delgado Peña Ríos Contreras Maldonado Ibarra Zavala Quiñones "
        "Cisneros Villanueva Ayala Nuñez Montoya Escobedo Huerta Solís Lara Cordero Olvera Zepeda Ybarra",
    ),
    "filipino_pacific": (
        "Marisol Jun-Jun Ligaya Bayani Rowena Jerome Analyn Kalani Leilani Keoni Malia Sione Tevita Mele Lupe Ioane "
        "Tavita Nalani Kaimana Makoa Noelani Jhonmark Lorna Dalisay",
        "Dela Cruz Santos Reyes Bautista Ocampo Dimaculangan Macaraeg Magbanua Catacutan Pangilinan Kealoha Kahananui "
        "Fonua Taufa Leota Faleafa Kamakau Tupou Vainikolo Kekauoha Tuiasosopo Manalo Salonga",
    ),
    "slavic": (
        "Ivan Dmitri Sergei Olga Natalia Svetlana Tatiana Yuri Boris Ekaterina Irina Anastasia Vladimir Mikhail "
        "Aleksandr Galina Ludmila Oksana Taras Bohdan Agnieszka Zbigniew Katarzyna Wojciech Małgorzata Grzegorz Jana "
        "Petr Zdeněk Jiří Milan Dragana Zoran Snežana Goran Vesna Krzysztof Bartosz Halina Stanisław",
        "Ivanov Petrov Sidorov Kuznetsov Popova Sokolov Volkov Kovalenko Shevchenko Bondarenko Melnyk Tkachenko "
        "Smirnova Lebedev Novikova Morozov Fedorov Orlova Zaitsev Pavlenko Kowalski Nowak Wiśniewski Wójcik Kamiński "
        "Lewandowska Zieliński Szymański Dvořák Svoboda Novotný Černý Procházka Horváth Jovanović Petrović Kovačević "
        "Nikolić Marković Szczepański Brzezinski Krzyzewski Hryhorenko Yanukovych Dziedzic",
    ),
    "native_american": (
        "Aiyana Chayton Dakota Kaya Takoda Winona Nayeli Ahiga Tala Koda Mahkah Shilah Cheveyo",
        "Begay Yazzie Tsosie Benally Standing-Bear Whitehorse Red-Cloud Two-Bulls Blackfeather Runningwolf Nez "
        "Bitsui Etsitty Manygoats Littlelight Ironcloud",
    ),
    "jewish_caucasus": (
        "Moshe Chaya Yitzhak Rivka Shlomo Devorah Avraham Tzipora Yaakov Batya Nino Giorgi Levan Ani Aram Siranush "
        "Vardan Hovhannes Mendel Shoshana",
        "Goldberg Rosenblum Katzenelson Shapiro Feldman Abramowitz Ben-David Bar-Lev Kvirikashvili Gelashvili "
        "Petrosyan Hakobyan Sargsyan Grigoryan Mkrtchyan Weisz Mizrahi Perlmutter Zylberberg",
    ),
}

SYLLABLES = {
    "chinese": "an ang bai ban bo cai chang chao chun dan dong fan fei feng gang guang hai han hong hua jia jian jie "
    "jin kai kun lan lei liang ling long lu mei meng min nan ning peng ping qi qian qing rong rui shan sheng shi shu "
    "si song tao ting wen xia xiang xiao xin xiong xue ya yan yi yong yu yue yun ze zhen zheng zhi zhong zi".split(),
    "korean": "ah bin cheol chan da dae do eun ga gi ha hae hee ho hoon hwa hye hyeon hyuk hyun il in jae jeong ji jin "
    "joo joon kyu kyung mi min myung na rae ri sang seo seok seon seung si so sook soo sun sung tae won woo yeon yong "
    "yoo young yul".split(),
}

FAKER_ORIGINS = {
    "english": "en_US en_GB en_IE en_AU en_CA",
    "hispanic": "es_MX es_ES es_CO es_AR",
    "indian": "en_IN",
    "vietnamese": "vi_VN",
    "slavic": "pl_PL cs_CZ hr_HR sk_SK sl_SI",
    "african": "yo_NG ig_NG ha_NG zu_ZA tw_GH en_KE",
    "french_italian": "fr_FR fr_QC it_IT",
    "german_dutch": "de_DE de_AT nl_NL",
    "nordic_baltic": "sv_SE no_NO fi_FI da_DK et_EE lt_LT lv_LV",
    "portuguese_romanian": "pt_BR pt_PT ro_RO",
    "hungarian": "hu_HU",
    "persian_turkish": "tr_TR az_AZ uz_UZ",
    "filipino_pacific": "fil_PH",
    "indonesian": "id_ID",
}

CYRILLIC = dict(zip(
    "абвгдежзийклмнопрстуфхцчшщъыьэюяіїєґ",
    "a b v g d e zh z i y k l m n o p r s t u f kh ts ch sh shch _ y _ e yu ya i yi ye g".replace("_", "").split(" "),
))


def romanise(name):
    return "".join(CYRILLIC.get(char, char) for char in name.lower()).title()


def by_origin(seed=11):
    """{origin: (given names, surnames)} from the lists above and Faker's locales."""
    from faker import Faker

    people = {origin: (set(given.split()), set(last.split())) for origin, (given, last) in ROMANISED.items()}
    people["filipino_pacific"][1].update(["Dela Cruz", "De Guzman", "Delos Reyes"])
    people["filipino_pacific"][1].difference_update(["Dela"])
    for origin, locales in list(FAKER_ORIGINS.items()) + [("slavic", "ru_RU uk_UA bg_BG")]:
        given, last = people.setdefault(origin, (set(), set()))
        for locale in locales.split():
            try:
                fake = Faker(locale)
            except (AttributeError, ValueError):
                continue
            fake.seed_instance(seed)
            for _ in range(700):
                for names, name in ((given, fake.first_name()), (last, fake.last_name())):
                    name = romanise(name) if re.search("[а-яА-Я]", name) else name
                    if re.fullmatch(r"[A-Za-zÀ-ɏḀ-ỿ][A-Za-zÀ-ɏḀ-ỿ' -]+", name):
                        names.add(name)
    randomness = random.Random(seed)
    for origin, syllables in SYLLABLES.items():
        for _ in range(900):
            one, two = randomness.choice(syllables), randomness.choice(syllables)
            joined = randomness.choice([one + two, one + "-" + two, one.title() + " " + two.title()])
            people[origin][0].add(joined[0].upper() + joined[1:])
    return {origin: (sorted(given), sorted(last)) for origin, (given, last) in people.items()}


def addresses(seed=9):
    """Foreign addresses, one string each, lines separated by newlines."""
    from faker import Faker

    result = []
    for locale in "en_GB en_CA en_AU en_IN en_NZ es_MX es_ES es_CO es_AR de_DE fr_FR it_IT nl_NL en_IE pt_BR pt_PT pl_PL".split():
        fake = Faker(locale)
        fake.seed_instance(seed)
        result += sorted({fake.address() for _ in range(160)})
    return result


def invented(names, count, seed=5):
    """New names that sound like the given ones: a letter chain of order three."""
    randomness = random.Random(seed)
    chain = {}
    for name in names:
        padded = "^^^" + name.lower() + "$"
        for place in range(3, len(padded)):
            chain.setdefault(padded[place - 3:place], []).append(padded[place])
    known, made = {name.lower() for name in names}, set()
    while len(made) < count:
        text = "^^^"
        while text[-1] != "$" and len(text) < 16:
            text += randomness.choice(chain[text[-3:]])
        word = text[3:-1]
        if text[-1] == "$" and 3 <= len(word) <= 12 and word not in known:
            made.add(word.capitalize())
    return sorted(made)

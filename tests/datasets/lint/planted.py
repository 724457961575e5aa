"""Small datasets with planted mistakes, and clean ones like them, in several languages."""

from __future__ import annotations

from typing import NamedTuple

from carob.schema import Json


class Sample(NamedTuple):
    """Examples of one dataset, and the rules that they violate."""

    examples: tuple[dict[str, Json], ...]
    rules: tuple[str, ...] = ()


def answer(text: str, *rules: str, question: str = "What do you say?", **more: Json) -> Sample:
    example: dict[str, Json] = {"input": question, "expectedOutput": text, **more}
    return Sample((example,), rules)


def ask(text: str, *rules: str) -> Sample:
    return answer("I will look into it for you.", *rules, question=text)


def grounded(context: str, text: str, *rules: str, question: str = "Please tell me.") -> Sample:
    return answer(text, *rules, question=question, context=context)


def pair(*answers: str, questions: tuple[str, str], rules: tuple[str, ...] = ()) -> Sample:
    return Sample(
        tuple(
            {"input": question, "expectedOutput": text}
            for question, text in zip(questions, answers, strict=True)
        ),
        rules,
    )


def tagged(*tags: tuple[str, ...], rules: tuple[str, ...] = ()) -> Sample:
    return Sample(
        tuple(
            {
                "input": f"Is item {number} in stock, and where do I find it?",
                "expectedOutput": f"Item {number} is on shelf {number + 40}.",
                "tags": list(own),
            }
            for number, own in enumerate(tags)
        ),
        rules,
    )


HOURS = ("When are you open on Sunday?", "When are you open on Sunday?")

SAMPLES = {
    # Personal data
    "email": ask("I am Jo, write to jo.baker@bikemail.net please.", "C101"),
    "email-de": ask("Bitte schreiben Sie an karla.weber@fahrradpost.de, danke.", "C101"),
    "email-in-metadata": answer("Yes.", "C101", metadata={"contact": "ana.ruiz@correo.es"}),
    "phone-international": ask("Call me at +49 30 901820 today.", "C102"),
    "phone-american": ask("My number is (415) 555-2671.", "C102"),
    "phone-german": ask("Bitte rufen Sie mich unter 030 901820 an.", "C102"),
    "phone-german-mobile": ask("Meine Handynummer ist 0151 23456789, bis wann ist offen?", "C102"),
    "phone-french": ask("Vous pouvez me rappeler au 01 42 68 53 00 ce soir.", "C102"),
    "phone-spanish": ask("Mi teléfono es el 612 34 56 78, ¿me llama usted?", "C102"),
    "phone-italian": ask("Il mio numero di telefono è 06 6982 1234, grazie.", "C102"),
    "phone-british": ask("You can call me on 020 7946 0958 after six.", "C102"),
    "card": ask("Charge my card 4111 1111 1111 1111, please.", "C103"),
    "iban": ask("Überweisen Sie es auf DE89 3704 0044 0532 0130 00.", "C104"),
    "national-id": ask("My SSN is 536-90-4399, is that enough?", "C105"),
    "secret-key": ask("It fails with AKIAIOSFODNN7EXAMPLE as the key.", "C106"),
    "secret-url": ask("We use postgres://app:s3cr3tpw@db.internal/app.", "C106"),
    "password": ask("My password is hunter2blue and it does not work.", "C106"),
    "password-short": ask("Login fails. user: jo, pw: Tr0ub4dor&3", "C106"),
    "password-word": ask("user: jo, pw: swordfish", "C106"),
    "password-german": ask("Mein Passwort ist Sommer2024!, es geht nicht.", "C106"),
    "password-french": ask("Mon mot de passe est : Soleil#75 et rien ne marche.", "C106"),
    "password-spanish": ask("Mi contraseña es Verano.2023 y no funciona.", "C106"),
    "clean-role-address": answer("Write to support@bikeshop.com, we answer within a day."),
    "clean-password": answer("Your password is case-sensitive, so check your spelling."),
    "clean-password-reset": ask("The password is expired, and a new password: where do I set it?"),
    "clean-password-rules": answer("Password: at least 8 characters. The password is required."),
    "clean-password-placeholder": answer("Set password: <your-password> and pw: ******** there."),
    "clean-password-german": answer("Das Passwort ist abgelaufen. Ihr Passwort ist geheim."),
    "clean-password-french": answer("Le mot de passe est obligatoire, et il est sensible."),
    "clean-order": ask("Where is my order 030 901 820 441 from the 12.03.2026?"),
    "clean-order-german": ask("Wo ist meine Bestellung 4711 0815 und die Rechnung 2026-00451?"),
    "clean-amounts": answer("Le total est de 12 450 300 euros pour les 24 12 06 pièces du lot."),
    "clean-isbn": ask("Do you have the book 978-3-16-148410-0 in stock?"),
    "clean-hours": answer("Geöffnet von 09:00 bis 18:00 Uhr, die Postleitzahl ist 10115."),
    # Typos
    "typo": answer("You will recieve the parcel in two days.", "C701"),
    "typo-two": answer("It is definately in your acount.", "C701"),
    "typo-context": answer(
        "Yes, within a month.", "C701", context="Returns are posible within one month of the order."
    ),
    "typo-short": Sample(
        (
            {"input": "Is the parcel here?", "expectedOutput": "Parcel recieved."},
            {"input": "When do you open?", "expectedOutput": "We open at nine in the morning."},
        ),
        ("C701",),
    ),
    "clean-german": answer("Sie ist größer als das alte Modell, und alle Teile sind da."),
    "clean-german-2": answer("Wir haben das Rad repariert, Sie konnen es ab Montag abholen."),
    "clean-german-3": answer("Der Transporter ist bestellt, eine Reperatur ist nicht mehr noetig."),
    "clean-french": answer("Le paquet est arrivé, vous pouvez le retirer dans notre magasin."),
    "clean-french-2": answer("Les pneus sont compatible avec votre modele, et la garantie marche."),
    "clean-french-3": answer("Il faut developper la photo avant la fin du mois de mars."),
    "clean-spanish": answer("El pedido esta listo, puede recogerlo en la tienda por la tarde."),
    "clean-spanish-2": answer("Para utilizar la aplicacion, abra el menu y elija su region."),
    "clean-spanish-3": answer("La direccion es correcta y el envio no tiene coste adicional."),
    "clean-italian": answer("Il pacco è pronto, lo può ritirare in negozio con il documento."),
    "clean-dutch": answer("Het pakket is klaar, u kunt het ophalen als de winkel open is."),
    "clean-portuguese": answer("O pedido está pronto, pode recolher na loja até as seis horas."),
    "clean-american": answer("The color of the aluminum frame is gray; we organize the delivery."),
    # Context
    "wrong-number": grounded(
        "Established in 2019, we serve 5000+ customers across 40 countries.",
        "The company was founded in 2018.",
        "C603",
    ),
    "wrong-amount": grounded(
        "The plan costs 5,000 euros per year and includes support.", "It costs 6000 euros.", "C603"
    ),
    "wrong-city": grounded(
        "The head office is in Paris, and the workshop opened in 2012.",
        "The head office is in Berlin.",
        "C603",
    ),
    "wrong-city-in-a-short-sentence": grounded(
        "Our office is in Paris.", "The office is in Berlin.", "C603"
    ),
    "clean-label": grounded("Plans and prices, page 12", "The plan costs 29 euros."),
    "wrong-person": grounded(
        "The returns team is led by Amara Okafor since last spring.",
        "The returns team is led by Lucia Santos.",
        "C603",
    ),
    "wrong-city-french": grounded(
        "Le siège de la société se trouve à Lyon depuis 2004, près de la gare.",
        "Le siège de la société se trouve à Marseille.",
        "C603",
    ),
    "wrong-topic": grounded(
        "Bicycles can be rented by the day at the counter next to the station.",
        "Vaccinations against influenza protect elderly patients during cold winter months.",
        "C603",
    ),
    "clean-grouped-number": grounded(
        "Established in 2019, we serve 5,000 customers across 40 countries.",
        "We serve 5000+ customers in forty countries.",
    ),
    "clean-number-words": grounded(
        "Each bike has two brakes, and a service takes three days.",
        "A bike has 2 brakes, and the service takes 3 days.",
    ),
    "clean-money": grounded(
        "A new tyre costs 1.200,50 € including the fitting.",
        "Ein neuer Reifen kostet 1200,50 Euro mit Montage.",
    ),
    "clean-steps": grounded(
        "To reset the password, open the settings, choose security and confirm the email.",
        "1. Open the settings. 2. Choose security. 3. Confirm the email.",
    ),
    "clean-same-city": grounded(
        "The head office is in Paris, and the workshop opened in 2012.",
        "Our head office is in Paris, France.",
    ),
    "clean-new-name": grounded(
        "You can get the app for your phone from the usual stores.",
        "Yes, download the app from the App Store or Google Play for your phone.",
    ),
    "clean-german-synonym": grounded(
        "Die Rechnung kommt am Montag mit der Post zu Ihnen nach Hause.",
        "Die Faktura kommt am Montag mit der Post.",
    ),
    # Duplicates, contradictions, expectations
    "duplicate": pair("Never.", "Never.", questions=HOURS, rules=("C201",)),
    "contradiction": pair("From ten to four.", "Never.", questions=HOURS, rules=("C203",)),
    "near-duplicate": pair(
        "From ten to four.",
        "From ten to four o'clock.",
        questions=(
            "When are you open on Sunday in the summer holidays?",
            "When are you open on Sundays in the summer holidays?",
        ),
        rules=("C202",),
    ),
    "clean-other-number": pair(
        "It is on shelf 4.",
        "It is on shelf 5.",
        questions=(
            "Where do I find item number 204 here?",
            "Where do I find item number 205 here?",
        ),
    ),
    "placeholder": answer("TODO", "C602"),
    "echo": answer("When do you open the shop?", "C602", question="When do you open the shop?"),
    "checklist": answer(" ".join(f"Step {number}: Do it." for number in range(1, 11)), "C602"),
    "clean-list": answer(
        "1. Open the settings page in the app. 2. Choose the security section at the bottom."
        " 3. Confirm the change with your password."
    ),
    # Tags
    "tag-case": tagged(("billing",), ("billing",), ("Billing",), rules=("C401",)),
    "tag-typo": tagged(("returns",), ("returns",), ("retruns",), rules=("C401",)),
    "tag-short": tagged(("technical",), ("technical",), ("tech",), rules=("C401",)),
    "clean-tags": tagged(("billing", "level-1"), ("billing", "level-2"), ("shipping",)),
    # Written after the rules, to see whether they hold
    "more-phone-de": ask(
        "Unter der Telefonnummer 0341 / 123 45 67 bin ich abends zu erreichen.", "C102"
    ),
    "more-phone-nl": ask("U kunt mij bellen op 06 12345678 als het pakket er is.", "C102"),
    "more-phone-pt": ask("Pode ligar para o meu telemóvel 912 345 678 amanhã de manhã.", "C102"),
    "more-phone-us": ask("Text me at 415-555-2671 when it's ready.", "C102"),
    "more-phone-fr": ask("Mon portable : 06 12 34 56 78, merci de me joindre avant midi.", "C102"),
    "more-pw1": ask("I can't sign in, username maria and password: Winter!2025", "C106"),
    "more-pw2": ask("pwd = qwerty99", "C106"),
    "more-pw3": ask("the wifi password is bluebicycle77, could you check?", "C106"),
    "more-pw4": ask("Kennwort lautet: Fahrrad_1987", "C106"),
    "more-token": ask("header Authorization: ghp_" + "a1B2" * 9, "C106"),
    "clean-more-pw1": answer("If the password is incorrect three times, the account is locked."),
    "clean-more-pw2": answer("Choose a new password: it needs a digit and a capital letter."),
    "clean-more-pw3": answer("A strong password is long. Your PIN and password are separate."),
    "clean-more-pw4": answer("La contraseña es obligatoria y debe tener ocho caracteres."),
    "clean-more-pw5": answer("Das Kennwort ist mindestens 8 Zeichen lang."),
    "clean-more-phone1": answer(
        "Please call us; we close at 18:30 and the queue is 15 to 20 minutes."
    ),
    "clean-more-phone2": answer(
        "Rufen Sie uns an, wenn das Paket 00340434161094042557 nicht ankommt."
    ),
    "clean-more-phone3": answer(
        "Appelez le service client avec la référence 2024 55 871 du contrat."
    ),
    "more-typo1": answer("Please seperate the battery before you send it to us.", "C701"),
    "more-typo2": answer("The warrenty does not cover this, unfortunatly.", "C701"),
    "clean-more-sv": answer("Paketet är klart, du kan hämta det i butiken på fredag eftermiddag."),
    "clean-more-de": answer("Die Garantie gilt zwei Jahre, das Formular finden Sie im Konto."),
    "clean-more-de2": answer("Bitte senden Sie das Packet an unsere Adresse in Leipzig zurück."),
    "clean-more-fr": answer(
        "La garantie couvre les defauts pendant deux ans, sauf pour la batterie."
    ),
    "clean-more-es": answer(
        "La garantia cubre dos años y el formulario esta en su cuenta de cliente."
    ),
    "clean-more-es2": answer("Puede cambiar el tamano en la seccion de pedidos de la pagina."),
    "more-num1": grounded(
        "The battery lasts up to 120 km and charges in four hours.", "It lasts 150 km.", "C603"
    ),
    "more-num2": grounded(
        "Rentals cost $25 per day, helmets are included in the price.",
        "A rental is $35 a day.",
        "C603",
    ),
    "more-num3": grounded(
        "Die Garantie beträgt 24 Monate ab dem Kauf des Rades.",
        "Die Garantie beträgt 36 Monate.",
        "C603",
    ),
    "more-name1": grounded(
        "Our courier partner for Austria is called Velopost, for all parcels.",
        "Our courier partner for Austria is called Radpost.",
        "C603",
    ),
    "more-name2": grounded(
        "Mona Haddad founded the shop in Tunis in 1998 with two friends.",
        "The shop was founded in Cairo.",
        "C603",
    ),
    "more-name3": grounded(
        "La tienda principal está en Valencia, cerca de la estación del Norte.",
        "La tienda principal está en Sevilla.",
        "C603",
    ),
    "clean-more-num1": grounded(
        "Delivery takes 48 hours and costs EUR 4.90 for orders below 50 euros.",
        "Delivery takes 2 days and costs €4.90.",
    ),
    "clean-more-num2": grounded(
        "We are open from 9 am to 6 pm, Monday to Friday.",
        "We are open from 9:00 to 18:00 on weekdays.",
    ),
    "clean-more-num3": grounded(
        "More than 12,000 riders use the app, and 3.5 million rides were recorded.",
        "Over 12000 riders use it, with 3,500,000 rides.",
    ),
    "clean-more-name1": grounded(
        "Refunds go back to the card that was used, within five business days.",
        "Refunds go back to your Visa card within five business days.",
    ),
    "clean-more-name2": grounded(
        "The manual for the Comet 3 lists a tyre pressure of 4 bar.",
        "Pump the tyres of the Comet 3 to 4 bar, says the manual.",
    ),
    "clean-more-name3": grounded(
        "Our workshop in Leipzig repairs e-bikes of all brands, on weekdays only.",
        "The Leipzig workshop repairs e-bikes of all brands, e.g. Bosch or Shimano, on weekdays.",
    ),
    "clean-more-name4": grounded(
        "Members of the Pedal Club get ten percent off all spare parts.",
        "Pedal Club members get ten percent off spare parts. See our Terms for details.",
    ),
}

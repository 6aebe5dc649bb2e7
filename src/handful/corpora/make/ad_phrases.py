"""Phrases of apartment ads: a small grammar with one start symbol for each field.

Each line is one way to write a phrase; ``<name>`` stands for a line of that name. Earlier lines are more frequent.
Many words stand in several fields on purpose: a rent and a parking place are both so many dollars a month.
"""

from __future__ import annotations

PHRASES: dict[str, str] = {
    "FEATURES": """
        <adj> <room> with <item>
        <item>
        <adj> <item>
        <item> and <item>
        <adj> <room>
        <room> has <adj> <item> and <item>
        <item> in <room>
        <item> throughout
        plenty of <item>
        newly remodeled <room>
        lots of <light>
        <light>
        <parking>
        <laundry>
        the <place> has <item> , <item> and <item>
        <item> , <item>
        <view> view from the <room>
        <floor> floor unit in a <adj> <adj> building
        several <adj> closets
        shared <outside>
        private <outside>
        <adj> <adj> <place> with <item> and <adj> <item>
        high ceilings and <item>
        you will love the <adj> <room>
    """,
    "SIZE": """
        <num> <bed> / <num> <bath>
        <num> <bed> <num> <bath>
        <num> <bed> <place>
        <adj> <num> <bed> <num> <bath> <place>
        <feet> sq ft
        approx <feet> square feet
        <adj> studio
        <num> <adj> bedrooms and <num> full <bath>
        <num> <bed> , <num> <bath> , <feet> sq ft
        one <bed> in a <num> <bed> <place>
    """,
    "RENT": """
        $ <rent> / month
        $ <rent> per month
        rent is $ <rent> a month
        $ <rent> rent plus $ <fee> <security> deposit
        asking $ <rent> / mo
        $ <rent>
        <security> deposit is $ <fee>
        <term> lease
        first and last month plus deposit due at move in
        only $ <rent> with a <term> lease
        rent reduced to $ <rent>
        pet deposit $ <fee>
    """,
    "NEIGHBORHOOD": """
        close to <amenity> and <amenity>
        near <amenity>
        walking distance to <amenity> , <amenity> and <amenity>
        <adj> <adj> neighborhood
        in the heart of <area>
        minutes from <area> and <amenity>
        easy access to <amenity>
        <num> blocks to <amenity>
        just <num> blocks from <area> <amenity>
        <adj> tree lined street in <area>
        located in <adj> <area>
        <amenity> , <amenity> and <amenity> nearby
        on a <adj> street near <amenity>
        convenient to <amenity> and <amenity>
    """,
    "CONTACT": """
        call <person> at *phone*
        please call *phone*
        email *email*
        call <person> or email *email*
        to view call *phone* after *time*
        please leave a message for <person>
        contact <person> for an appointment
        open house <day> *time* to *time*
        shown by appointment only
        call today to see this <place>
        ask for <person> at *phone* ext <num>
        fax application to *phone*
    """,
    "AVAILABLE": """
        available now
        available *date*
        available immediately
        ready to move in *date*
        move in <when>
        vacant and ready <when>
        <term> lease begins *date*
        available <when> or *date*
    """,
    "UTILITIES": """
        <utility> and <utility> included
        tenant pays <utility> and <utility>
        owner pays <utility>
        all utilities included
        <utility> , <utility> and <utility> are paid
        utilities are about $ <bill> a month
        includes <utility>
        utilities not included
    """,
    "RESTRICTIONS": """
        no pets
        no smoking
        no pets or smoking please
        <pet> ok with deposit
        <pet> considered with extra rent
        sorry no <pet>
        credit check and references required
        non smoker only
        no <pet> , no smoking , no drugs
        must have good credit and <adj> references
        <pet> negotiable
    """,
    "ROOMATES": """
        looking for a <manner> <mate> to share the <place>
        i am a <manner> <job> who works in <area>
        share <room> and <room> with <num> <manner> <mate>
        we are <num> <manner> people with <pet>
        seeking a <manner> and <manner> <mate>
        the <mate> should be <manner> and employed
        you would have your own <room>
        must be <manner> and like <pet>
    """,
    "PHOTOS": """
        photos at *url*
        see pictures at *url*
        click here for more photos
        for a virtual tour visit *url*
        email for pictures
        floor plan and images at *url*
    """,
    "ADDRESS": """
        <number> <street> <way>
        <number> <street> <way> # <num>
        located at <number> <street> <way> in <area>
        <street> <way> at <ordinal> <way>
        <street> near <ordinal> <way>
        cross streets are <street> and <ordinal>
    """,
    "OTHER": """
        this one will not last
        equal housing opportunity
        thank you for looking
        must see to appreciate
        a rare find
        this is the one you want
        sorry no agents
        serious people only please
        you will love it here
        new on the market
    """,
    "adj": "large\nspacious\nnew\nquiet\nsunny\nbeautiful\nclean\ngreat\nnice\ncozy\nbright\nlovely\nupdated\n"
    "safe\ncharming\n<quality>\nmodern\nfull\nsecluded\nelegant\nhuge",
    "room": "kitchen\nliving room\nbedroom\nbathroom\ndining room\nmaster bedroom\nfamily room\nhallway\nden\nstudy",
    "item": "hardwood floors\nnew carpet\ndishwasher\ngas stove\nrefrigerator\nfireplace\nwalk in closets\n"
    "<parking>\n<laundry>\ngranite counters\n<thing>\nceiling fans\nnew paint\ncentral heat\n"
    "air conditioning\nlarge windows\nmicrowave\n<outside>\ntile floors\nfrench doors\nstorage room\n"
    "cable ready\nhigh speed internet\noak cabinets\nbreakfast bar\nmini blinds\nskylights\ngas heat\n"
    "hot tub\nsecurity system\ncrown molding\n<quality> <thing>",
    "light": "natural light\nmorning sun\nlight and air\nsunny windows\nstorage space",
    "parking": "<num> car garage\noff street parking\ncovered parking\nparking available for $ <bill> a month\n"
    "street parking\ngarage parking\nassigned parking space\ncarport",
    "laundry": "laundry in building\nwasher and dryer\ncoin laundry\nlaundry room\nwasher dryer hookups\n"
    "laundry on site",
    "outside": "deck\npatio\nyard\nbalcony\ngarden\npool\nbackyard\ncourtyard\nrooftop terrace\ngym",
    "view": "bay\ngarden\ncity\nwater\nstreet\npark\nhill",
    "place": "apartment\nunit\nhouse\nhome\ncondo\nflat\nduplex\ncottage\nloft\ntownhouse",
    "floor": "top\n2nd\nground\n3rd\nupper",
    "bed": "br\nbedroom\nbed\nbd\nbedrooms",
    "bath": "ba\nbath\nbaths\nbathroom\nbath\nhalf bath",
    "security": "security\n\nrefundable\ncleaning",
    "term": "1 year\n6 month\nmonth to month\none year\nshort term\n12 month",
    "amenity": "shopping\nparks\npublic transportation\ndowntown\nrestaurants\nfreeway\nthe bus\nschools\n"
    "the train\ncafes\n<thing>\nthe beach\nthe university\ngrocery stores\n<area>\nhospital\nthe park\n"
    "highway <ordinal>\nlibrary\nmovie theater\nbike trails\nthe lake\nfarmers market",
    "day": "saturday\nsunday\nweekends\nfriday\ntomorrow",
    "when": "now\nimmediately\nthis weekend\nnext month\nsoon\ntoday\nafter *date*",
    "utility": "water\ngarbage\ngas\nelectricity\nheat\ncable\ntrash\nhot water\ninternet\nsewer\nphone",
    "pet": "cats\ndogs\npets\nsmall dog\ncat\nlarge dogs\nbirds",
    "manner": "clean\nquiet\nresponsible\nfriendly\nrespectful\neasy going\nneat\nmature\ntidy",
    "mate": "roommate\nhousemate\nperson\ntenant\nprofessional\nstudent",
    "job": "student\nteacher\nprofessional\nnurse\nartist\nengineer",
    "way": "st\nave\nstreet\nblvd\nroad\nlane\ndrive\ncourt",
    "num": "2\n1\n3\n4\ntwo\n5\n6\n1.5\nthree",
}

PROTOTYPES: dict[str, list[str]] = {
    "FEATURES": ["floors", "garage", "closets"],
    "SIZE": ["sq", "ft", "br"],
    "RENT": ["rent", "asking", "per"],
    "NEIGHBORHOOD": ["close", "blocks", "neighborhood"],
    "CONTACT": ["call", "*phone*", "appointment"],
    "AVAILABLE": ["available", "immediately", "*date*"],
    "UTILITIES": ["utilities", "garbage", "pays"],
    "RESTRICTIONS": ["smoking", "credit", "references"],
    "ROOMATES": ["roommate", "share", "responsible"],
    "PHOTOS": ["photos", "pictures", "*url*"],
    "ADDRESS": ["ave", "st", "#"],
    "BOUNDARY": [".", "!", ";"],
}

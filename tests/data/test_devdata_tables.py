"""Real tables with all their traps are read rightly, column by column.

Needs a folder of tables as people have them (HANDFUL_DEVDATA); each test states what every column of one table is.
"""

from __future__ import annotations

import numpy as np
import pytest

from handful.data.table import read_table

pytestmark = pytest.mark.corpus

# Columns by kind; "datetime", "amount" and so on are numbers in another form than plain ones, "skip" can teach nothing.
TABLES = {
    "titanic.csv": (
        "Survived",
        {0: 549, 1: 342},
        {
            "skip": "PassengerId",
            "numeric": "Pclass Age SibSp Parch Fare",
            "text": "Name",
            "categorical": "Sex Ticket Cabin Embarked",
        },
    ),
    "adult.data.csv": (
        "column15",
        {"<=50K": 7588, ">50K": 2412},
        {
            "numeric": "column1 column3 column5 column11 column12 column13",
            "categorical": "column2 column4 column6 column7 column8 column9 column10 column14",
        },
    ),
    "penguins_raw.csv": (
        "Species",
        {
            "Adelie Penguin (Pygoscelis adeliae)": 152,
            "Gentoo penguin (Pygoscelis papua)": 124,
            "Chinstrap penguin (Pygoscelis antarctica)": 68,
        },
        {
            "skip": "Region|Stage",
            "categorical": "studyName|Island|Individual ID|Clutch Completion|Sex|Comments",
            "datetime": "Date Egg|",
            "numeric": "Sample Number|Culmen Length (mm)|Culmen Depth (mm)|Flipper Length (mm)|Body Mass (g)|"
            "Delta 15 N (o/oo)|Delta 13 C (o/oo)",
        },
    ),
    "bank.csv": (
        "y",
        {"no": 4000, "yes": 521},
        {
            "numeric": "age balance day duration campaign pdays previous",
            "categorical": "job marital education default housing loan contact month poutcome",
        },
    ),
    "horse-colic.csv": (
        "column23",
        {1: 178, 2: 77, 3: 44},
        {
            "numeric": " ".join(f"column{n}" for n in range(1, 29) if n not in (23, 25, 26, 27)),
            "categorical": "column25 column26 column27",
        },
    ),
    "heart-cleveland.csv": (
        "(num) (the predicted attribute)",
        {0: 164, 1: 55, 2: 36, 3: 35, 4: 13},
        {
            "numeric": "(age) (sex) (cp) (trestbps) (chol) (fbs) (restecg) (thalach) (exang) (oldpeak) (slope) (ca) (thal)"
        },
    ),
    "telco-churn.csv": (
        "Churn",
        {"No": 5174, "Yes": 1869},
        {
            "skip": "customerID",
            "numeric": "SeniorCitizen tenure MonthlyCharges TotalCharges",
            "categorical": "gender Partner Dependents PhoneService MultipleLines InternetService OnlineSecurity OnlineBackup "
            "DeviceProtection TechSupport StreamingTV StreamingMovies Contract PaperlessBilling PaymentMethod",
        },
    ),
    "ecommerce-churn.xlsx": (
        "Churn",
        {0: 4682, 1: 948},
        {
            "skip": "CustomerID",
            "numeric": "Tenure CityTier WarehouseToHome HourSpendOnApp NumberOfDeviceRegistered SatisfactionScore "
            "NumberOfAddress Complain OrderAmountHikeFromlastYear CouponUsed OrderCount DaySinceLastOrder CashbackAmount",
            "categorical": "PreferredLoginDevice PreferredPaymentMode Gender PreferedOrderCat MaritalStatus",
        },
    ),
    "raisin.xlsx": (
        "Class",
        {"Kecimen": 450, "Besni": 450},
        {"numeric": "Area MajorAxisLength MinorAxisLength Eccentricity ConvexArea Extent Perimeter"},
    ),
    "car-insurance-claim.csv": (
        "CLAIM_FLAG",
        {0: 7556, 1: 2746},
        {
            "skip": "ID",
            "numeric": "KIDSDRIV AGE HOMEKIDS YOJ TRAVTIME TIF CLM_FREQ MVR_PTS CAR_AGE INCOME HOME_VAL BLUEBOOK OLDCLAIM "
            "CLM_AMT",
            "datetime": "BIRTH",
            "categorical": "PARENT1 MSTATUS GENDER EDUCATION OCCUPATION CAR_USE CAR_TYPE RED_CAR REVOKED URBANICITY",
        },
    ),
    "loans-percent.csv": (
        "Home.Ownership",
        {"MORTGAGE": 1148, "RENT": 1146, "OWN": 200, "OTHER": 5, "NONE": 1},  # a notice names NONE
        {
            "numeric": "Amount.Requested Amount.Funded.By.Investors Monthly.Income Open.CREDIT.Lines "
            "Revolving.CREDIT.Balance Inquiries.in.the.Last.6.Months Interest.Rate Debt.To.Income.Ratio",
            "categorical": "Loan.Purpose State Loan.Length Employment.Length FICO.Range",
        },
    ),
    "cfpb-complaints.csv": (
        "Submitted via",
        None,
        {
            "skip": "Complaint ID|",
            "datetime": "Date received|Date sent to company",
            "categorical": "Product|Sub-product|Issue|Sub-issue|Company public response|Company|State|ZIP code|Tags|"
            "Consumer consent provided?|Company response to consumer|Timely response?|Consumer disputed?",
        },
    ),
    "credit-a.csv": (
        "class",
        {"-": 383, "+": 307},
        {"numeric": "A2 A3 A8 A11 A14 A15", "categorical": "A1 A4 A5 A6 A7 A9 A10 A12 A13"},
    ),
    "german-credit.csv": (
        "class",
        {"good": 700, "bad": 300},
        {
            "numeric": "duration credit_amount installment_commitment residence_since age existing_credits num_dependents",
            "categorical": "checking_status credit_history purpose savings_status employment personal_status other_parties "
            "property_magnitude other_payment_plans housing job own_telephone foreign_worker",
        },
    ),
    "hypothyroid.csv": (
        "Class",
        {"negative": 3481, "compensated_hypothyroid": 194, "primary_hypothyroid": 95, "secondary_hypothyroid": 2},
        {
            "skip": "TBG measured|TBG",
            "numeric": "age|TSH|T3|TT4|T4U|FTI",
            "categorical": "sex|on thyroxine|query on thyroxine|on antithyroid medication|sick|pregnant|thyroid surgery|"
            "I131 treatment|query hypothyroid|query hyperthyroid|lithium|goitre|tumor|hypopituitary|psych|TSH measured|"
            "T3 measured|TT4 measured|T4U measured|FTI measured|referral source",
        },
    ),
    "eucalyptus.csv": (
        "Utility",
        {"good": 214, "none": 180, "average": 130, "low": 107, "best": 105},
        {
            "numeric": "Rep Altitude Rainfall Frosts Year PMCno DBH Ht Surv Vig Ins_res Stem_Fm Crown_Fm Brnch_Fm",
            "categorical": "Abbrev Locality Map_Ref Latitude Sp",
        },
    ),
}

# Tables whose columns are all of one kind but for those named: target, labels, kind, exceptions.
EVEN_TABLES = {
    "vote.csv": ("Class", {"democrat": 267, "republican": 168}, "categorical", {}),
    "zoo.csv": (
        "type",
        {"mammal": 41, "bird": 20, "fish": 13, "invertebrate": 10, "insect": 8, "reptile": 5, "amphibian": 4},
        "categorical",
        {"skip": "animal", "numeric": "legs"},
    ),
    "splice.csv": ("Class", {"N": 1655, "IE": 768, "EI": 767}, "categorical", {"skip": "Instance_name"}),
    "mushrooms.csv": ("edibility", {"e": 4208, "p": 3916}, "categorical", {"skip": "veil-type"}),
    "hepatitis.csv": (
        "Class",
        {"LIVE": 123, "DIE": 32},
        "categorical",
        {"numeric": "AGE BILIRUBIN ALK_PHOSPHATE SGOT ALBUMIN PROTIME"},
    ),
    "balance-scale.csv": ("class", {"R": 288, "L": 288, "B": 49}, "numeric", {}),
    "dermatology.csv": ("Classification", {1: 112, 3: 72, 2: 61, 5: 52, 4: 49, 6: 20}, "numeric", {}),
    "haberman.csv": ("column4", {1: 225, 2: 81}, "numeric", {}),
    "magic.csv": ("column11", {"g": 3242, "h": 1758}, "numeric", {}),
    "new-thyroid.csv": ("column6", {1: 150, 2: 35, 3: 30}, "numeric", {}),
    "page-blocks.csv": ("class", {1: 4913, 2: 329, 5: 115, 4: 88, 3: 28}, "numeric", {}),
    "phoneme.csv": ("column6", {0: 3818, 1: 1586}, "numeric", {}),
    "pima-diabetes.csv": ("column9", {0: 500, 1: 268}, "numeric", {}),
    "spambase.csv": ("class", {0: 2788, 1: 1813}, "numeric", {}),
    "usps.csv": (
        "digit",
        {0: 358, 1: 264, 4: 200, 2: 198, 9: 177, 6: 170, 3: 166, 8: 166, 5: 160, 7: 147},
        "numeric",
        {},
    ),
    "waveform.csv": ("class", {2: 679, 0: 670, 1: 651}, "numeric", {}),
    "wheat-seeds.csv": ("column8", {1: 70, 2: 70, 3: 70}, "numeric", {}),
    "soybean.csv": ("class", 19, "categorical", {}),
    "steel-plates.csv": ("Fault", 7, "numeric", {}),
}
OTHERWISE = {"lending-club-sample.csv"}  # has a test of its own


def names(text):
    return [name for name in text.split("|") if name] if "|" in text else text.split()


def kinds_of(table):
    return {spec.name: spec.kind for spec in table.columns}


@pytest.mark.parametrize("name", TABLES)
def test_every_column_is_what_it_is(development_data, name):
    target, counts, wanted = TABLES[name]
    table = read_table(development_data / "tables" / name, target)
    assert counts is None or counts_of(table) == counts
    assert kinds_of(table) == {column: kind for kind, text in wanted.items() for column in names(text)}


def counts_of(table):
    counts = np.bincount(table.labels.codes[table.labels.labeled], minlength=len(table.labels.classes))
    return dict(zip(table.labels.classes.tolist(), counts.tolist(), strict=True))


@pytest.mark.parametrize("name", EVEN_TABLES)
def test_all_columns_but_these_are_of_one_kind(development_data, name):
    target, counts, kind, others = EVEN_TABLES[name]
    table = read_table(development_data / "tables" / name, target)
    found = counts_of(table)
    assert (len(found) if isinstance(counts, int) else found) == counts
    exceptions = {column: other for other, text in others.items() for column in names(text)}
    assert kinds_of(table) == {column: exceptions.get(column, kind) for column in kinds_of(table)}
    assert set(exceptions) <= set(kinds_of(table))


@pytest.mark.parametrize(
    ("name", "target", "column", "first"),
    [
        ("car-insurance-claim.csv", "CLAIM_FLAG", "INCOME", [67349.0, 91449.0]),
        ("loans-percent.csv", "Home.Ownership", "Interest.Rate", [8.9, 12.12]),
    ],
)
def test_amounts_and_percents_are_numbers(development_data, name, target, column, first):
    table = read_table(development_data / "tables" / name, target)
    assert table.values()[column].head(2).to_list() == first


def test_a_class_that_may_mean_no_label_is_reported(development_data):
    table = read_table(development_data / "tables" / "loans-percent.csv", "Home.Ownership")
    notices = [notice for notice in table.notices if notice.code == "class-or-unlabeled"]
    assert [(notice.column, notice.python_fix) for notice in notices] == [("Home.Ownership", "missing_labels=['NONE']")]


def test_no_table_is_left_out(development_data):
    there = {path.name for path in (development_data / "tables").iterdir()}
    assert there - OTHERWISE == set(TABLES) | set(EVEN_TABLES)


def test_many_columns_of_loans(development_data):
    table = read_table(development_data / "tables" / "lending-club-sample.csv", "loan_status")
    kinds = kinds_of(table)
    assert len(kinds) == 149
    expected = {
        "id": "skip",
        "member_id": "skip",
        "url": "skip",
        "next_pymnt_d": "skip",
        "policy_code": "skip",
        "term": "categorical",
        "emp_length": "categorical",
        "issue_d": "datetime",
        "earliest_cr_line": "datetime",
        "last_pymnt_d": "datetime",
        "desc": "text",
        "grade": "categorical",
        "zip_code": "categorical",
        "int_rate": "numeric",
        "loan_amnt": "numeric",
    }
    assert {name: kinds[name] for name in expected if name in kinds} == {
        n: k for n, k in expected.items() if n in kinds
    }


@pytest.mark.parametrize(
    ("name", "target", "column"),
    [("car-insurance-claim.csv", "CLAIM_FLAG", "CLM_AMT")],
)
def test_a_column_that_gives_the_label_away_is_reported(development_data, name, target, column):
    table = read_table(development_data / "tables" / name, target)
    assert [notice.column for notice in table.notices if notice.code == "gives-label-away"] == [column]

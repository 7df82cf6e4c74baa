"""Which printed lines tell who somebody is."""

from __future__ import annotations

import pytest

from pmo_assets.pipeline.videos.names import is_identifying

IDENTIFYING = (
    "Dr Jane Miller", "Dr. J. Miller", "Dr.Jane Miller", "DrMiller", "Prof. Aisha Okafor", "John Smith, MD",
    "JohnSmith,MD", "John Smith MD PhD", "J. Smith, M.D., Ph.D.", "Maria Tanaka, FRCOphth",
    "Presented by Jane Miller", "Speaker: Jane Miller", "Patient: Maria Tanaka", "Name: Tanaka",
    "jane.miller@eye-clinic.org", "j.miller @eye.org", "www.eye-clinic.org", "@retinadoc", "DOB 27/03/1983",
    "Date of birth: 3 May 1960", "12.03.1964", "1964-03-12", "MRN 2244964", "Patient ID: A12", "NHS 943 476 5919",
    "20110345", "Mrs Banerjee", "Dr van der Meer", "Prof. de la Cruz", "Dr. Özgür Şahin", "Łukasz Nowak, MD", "Dr 王",
    "PROF. MILLER", "DR. JANE MILLER", "Presented by Émile Zola", "Refer early " * 30 + "Dr Jane Miller",
)  # fmt: skip
OF_THE_SUBJECT = (
    "Macular Degeneration", "Stargardt Disease", "Best Vitelliform Dystrophy", "Follow up for two years",
    "OCT, 30 degrees", "Visual acuity 20/40", "AMD", "DME and DR", "Case 3", "MD -12.5 dB", "Injections by month 3",
    "Retina in practice", "Drusen", "Kaplan-Meier", "24-2 visual field", "n = 120", "Doctor's choice of drug",
    "Mean 12.5 (SD 3.1)", "DR SCREENING", "MS AND OPTIC NEURITIS", "MR IMAGING", "A." * 150,
)  # fmt: skip


@pytest.mark.parametrize("line", IDENTIFYING)
def test_lines_that_identify_somebody(line: str) -> None:
    assert is_identifying(line)


@pytest.mark.parametrize("line", OF_THE_SUBJECT)
def test_lines_of_the_subject_stay(line: str) -> None:
    assert not is_identifying(line)


def test_names_of_the_metadata_are_looked_for_also_misread() -> None:
    assert is_identifying("Jane Mi1ler", ["Jane Miller"])
    assert not is_identifying("Retina in practice", ["Jane Miller"])

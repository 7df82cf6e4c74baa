"""Typical captions of ophthalmology figures with their panels and subcaptions, by the rules of the annotation guide.

Invented; one block per convention: the caption, then one line per panel, "identifier | subcaption".
"""

# ruff: noqa: E501 (a caption is a line)

from __future__ import annotations

import pytest

from pmo_assets.pipeline.captions.segments import join_segments
from pmo_assets.pipeline.captions.split import split_caption

AFTER_THEIR_TEXT = """
Fundus photograph (A) and OCT (B) of the right eye.
A | Fundus photograph of the right eye.
B | OCT of the right eye.

Color fundus photograph (A), fluorescein angiography (B) and OCT (C) of the left eye.
A | Color fundus photograph of the left eye.
B | Fluorescein angiography of the left eye.
C | OCT of the left eye.

Fundus photographs before (A) and after (B) treatment.
A | Fundus photographs before treatment.
B | Fundus photographs after treatment.

Fundus photographs of the right (A) and left (B) eyes.
A | Fundus photographs of the right eyes.
B | Fundus photographs of the left eyes.

H&E (a) and PAS (b) staining of the retina.
a | H&E staining of the retina.
b | PAS staining of the retina.

Right eye (a, b) and left eye (c, d) fundus photographs and OCT scans.
a | Right eye fundus photographs and OCT scans.
b | Right eye fundus photographs and OCT scans.
c | Left eye fundus photographs and OCT scans.
d | Left eye fundus photographs and OCT scans.

Visual field of OD (A) and OS (B).
A | Visual field of OD.
B | Visual field of OS.

Fundus photograph of the right eye (A) and OCT (B).
A | Fundus photograph of the right eye.
B | OCT.

Fundus photograph before surgery (A) and fluorescein angiography (B).
A | Fundus photograph before surgery.
B | Fluorescein angiography.

Retinal imaging of a patient with CSC by fundus photography (A) and OCT (B).
A | Retinal imaging of a patient with CSC by fundus photography.
B | Retinal imaging of a patient with CSC by OCT.

Fundus photography (A), FFA (B) and OCT (C) images of a 45-year-old man with CSC. Arrow indicates the leakage point.
A | Fundus photography images of a 45-year-old man with CSC. Arrow indicates the leakage point.
B | FFA images of a 45-year-old man with CSC. Arrow indicates the leakage point.
C | OCT images of a 45-year-old man with CSC. Arrow indicates the leakage point.

Retinal thickness (A). Choroidal thickness (B). Bars represent SD.
A | Retinal thickness. Bars represent SD.
B | Choroidal thickness. Bars represent SD.

ROC curves of the algorithm in the validation set (a) and the test set (b). AUC, area under the curve.
a | ROC curves of the algorithm in the validation set. AUC, area under the curve.
b | ROC curves of the algorithm in the test set. AUC, area under the curve.

Color fundus photography reveals multiple yellow-white lesions (A, B). Angiography shows early leakage (C) and late staining (D).
A | Color fundus photography reveals multiple yellow-white lesions.
B | Color fundus photography reveals multiple yellow-white lesions.
C | Angiography shows early leakage.
D | Angiography shows late staining.

OCT shows subretinal fluid (A) and drusen (B).
A | OCT shows subretinal fluid.
B | OCT shows drusen.

Representative OCT images of a healthy subject (A), a patient with dry AMD (B) and a patient with wet AMD (C).
A | Representative OCT images of a healthy subject.
B | Representative OCT images of a patient with dry AMD.
C | Representative OCT images of a patient with wet AMD.

Distribution of drusen (A) and thickness of the choroid (B).
A | Distribution of drusen.
B | Thickness of the choroid.

Slit-lamp photograph of the cornea (a), gonioscopy of the angle (b) and ultrasound biomicroscopy (c).
a | Slit-lamp photograph of the cornea.
b | Gonioscopy of the angle.
c | Ultrasound biomicroscopy.
"""

SHARED_NOUNS = """
Color fundus photographs of the right (A) and left eye (B) show drusen. OCT of the right (C) and left eye (D) reveals fluid.
A | Color fundus photographs of the right eye show drusen.
B | Color fundus photographs of the left eye show drusen.
C | OCT of the right eye reveals fluid.
D | OCT of the left eye reveals fluid.

Representative images of normal (A), mild (B), moderate (C) and severe (D) diabetic retinopathy.
A | Representative images of normal diabetic retinopathy.
B | Representative images of mild diabetic retinopathy.
C | Representative images of moderate diabetic retinopathy.
D | Representative images of severe diabetic retinopathy.

OCT angiography of superficial (A) and deep (B) capillary plexus, outer retina (C) and choriocapillaris (D).
A | OCT angiography of superficial capillary plexus.
B | OCT angiography of deep capillary plexus.
C | OCT angiography of outer retina.
D | OCT angiography of choriocapillaris.

Maps of retinal (A) and choroidal thickness (B) in healthy eyes.
A | Maps of retinal thickness in healthy eyes.
B | Maps of choroidal thickness in healthy eyes.

Fundus photographs of the right (A) and of the left (B) eye.
A | Fundus photographs of the right eye.
B | Fundus photographs of the left eye.

Multimodal imaging: color photo (A); FAF (B); FA, early (C) and late (D) phases; ICGA (E); and OCT (F).
A | Multimodal imaging: color photo.
B | Multimodal imaging: FAF.
C | Multimodal imaging: FA, early phases.
D | Multimodal imaging: FA, late phases.
E | Multimodal imaging: ICGA.
F | Multimodal imaging: OCT.

Early (A) and late phase (B) fluorescein angiograms.
A | Early phase fluorescein angiograms.
B | Late phase fluorescein angiograms.

Preoperative (A) and postoperative (B) OCT images.
A | Preoperative OCT images.
B | Postoperative OCT images.

Horizontal (a) and vertical (b) OCT scans through the fovea show a macular hole.
a | Horizontal OCT scans through the fovea show a macular hole.
b | Vertical OCT scans through the fovea show a macular hole.
"""

TIMES = """
Fundus photograph of the left eye at the initial visit (A) and 6 months after treatment (B).
A | Fundus photograph of the left eye at the initial visit.
B | Fundus photograph of the left eye 6 months after treatment.

Fundus photographs at baseline (A), 3 months (B), and 12 months (C) after vitrectomy.
A | Fundus photographs at baseline after vitrectomy.
B | Fundus photographs at 3 months after vitrectomy.
C | Fundus photographs at 12 months after vitrectomy.

OCT scan before treatment (A) and 3 months later (B).
A | OCT scan before treatment.
B | OCT scan 3 months later.

OCT of the left eye before (A) and 1 month after (B) intravitreal injection.
A | OCT of the left eye before intravitreal injection.
B | OCT of the left eye 1 month after intravitreal injection.

OCT of the macula at presentation (A) and after treatment (B).
A | OCT of the macula at presentation.
B | OCT of the macula after treatment.

OCT images at baseline (left) and at 6 months (right).
left | OCT images at baseline.
right | OCT images at 6 months.

Fluorescein angiography at 30 seconds (A), 1 minute (B), and 5 minutes (C).
A | Fluorescein angiography at 30 seconds.
B | Fluorescein angiography at 1 minute.
C | Fluorescein angiography at 5 minutes.

The macula in a patient with AMD (A) before and (B) after injection of ranibizumab.
A | The macula in a patient with AMD before injection of ranibizumab.
B | The macula in a patient with AMD after injection of ranibizumab.

Slit-lamp photographs of the right eye (A) and the left eye (B) at presentation, and of both eyes (C, D) after treatment.
A | Slit-lamp photographs of the right eye at presentation.
B | Slit-lamp photographs of the left eye at presentation.
C | Slit-lamp photographs of both eyes after treatment.
D | Slit-lamp photographs of both eyes after treatment.
"""

WITHIN_THEIR_TEXT = """
Fundus photograph of the right eye (A) showing a macular hole. OCT (B) confirms the diagnosis.
A | Fundus photograph of the right eye showing a macular hole.
B | OCT confirms the diagnosis.

SD-OCT of the right eye showing subretinal fluid (A, arrow) and its resolution after treatment (B).
A | SD-OCT of the right eye showing subretinal fluid (arrow).
B | SD-OCT of the right eye showing its resolution after treatment.

OCT scan before treatment (A) showing macular edema with central thickness of 512 µm and after treatment (B) with thickness of 240 µm.
A | OCT scan before treatment showing macular edema with central thickness of 512 µm.
B | OCT scan after treatment with thickness of 240 µm.

In the right eye (A), the fovea is flat; in the left eye (B), it is elevated.
A | In the right eye, the fovea is flat.
B | In the left eye, it is elevated.

The right eye (A) shows drusen, whereas the left eye (B) shows geographic atrophy.
A | The right eye shows drusen.
B | The left eye shows geographic atrophy.

Fundus photograph (A) shows a pigmented lesion and OCT (B) shows a dome-shaped elevation.
A | Fundus photograph shows a pigmented lesion.
B | OCT shows a dome-shaped elevation.

Panels A and B show the fundus; panel C shows the OCT.
A | Panels A and B show the fundus.
B | Panels A and B show the fundus.
C | Panel C shows the OCT.

Panel A shows the fundus of the right eye and panel B shows the OCT scan.
A | Panel A shows the fundus of the right eye.
B | Panel B shows the OCT scan.

Fundus autofluorescence (A) demonstrates a hyperautofluorescent ring. OCT (B) demonstrates loss of the ellipsoid zone.
A | Fundus autofluorescence demonstrates a hyperautofluorescent ring.
B | OCT demonstrates loss of the ellipsoid zone.
"""

BEFORE_THEIR_TEXT = """
(A) Fundus photograph and (B) OCT of the right eye.
A | Fundus photograph of the right eye.
B | OCT of the right eye.

(A) Fundus photograph. (B) OCT. Scale bar: 200 µm.
A | Fundus photograph. Scale bar: 200 µm.
B | OCT. Scale bar: 200 µm.

A: fundus photograph; B: OCT; C: autofluorescence.
A | Fundus photograph.
B | OCT.
C | Autofluorescence.

A, Fundus photograph of the right eye. B, OCT through the fovea. C, Same eye after 3 months.
A | Fundus photograph of the right eye.
B | OCT through the fovea.
C | Same eye after 3 months.

A. Color fundus photo; B. red-free; C. FA at 30 s; D. FA at 5 min.
A | Color fundus photo.
B | Red-free.
C | FA at 30 s.
D | FA at 5 min.

A) Fundus photograph. B) OCT. C) ICGA.
A | Fundus photograph.
B | OCT.
C | ICGA.

a Color fundus image. b Red-free image. c OCT B-scan. Scale bars, 200 µm.
a | Color fundus image. Scale bars, 200 µm.
b | Red-free image. Scale bars, 200 µm.
c | OCT B-scan. Scale bars, 200 µm.

(i) Fundus photograph, (ii) OCT and (iii) FAF of patient 3.
i | Fundus photograph of patient 3.
ii | OCT of patient 3.
iii | FAF of patient 3.

(A) Color fundus photograph showing a pigmented lesion (arrow). (B) FAF, (C) FA and (D) ICGA of the same eye.
A | Color fundus photograph showing a pigmented lesion (arrow).
B | FAF of the same eye.
C | FA of the same eye.
D | ICGA of the same eye.

Fundus images showing (a) normal retina, (b) mild NPDR, (c) severe NPDR and (d) PDR.
a | Fundus images showing normal retina.
b | Fundus images showing mild NPDR.
c | Fundus images showing severe NPDR.
d | Fundus images showing PDR.

Comparison between manual (red) and automatic (green) segmentation in (a) healthy and (b) glaucomatous eyes.
a | Comparison between manual (red) and automatic (green) segmentation in healthy eyes.
b | Comparison between manual (red) and automatic (green) segmentation in glaucomatous eyes.

OCT images with (a) drusen and (b) geographic atrophy.
a | OCT images with drusen.
b | OCT images with geographic atrophy.

OCT of the left eye (A) at baseline and (B) 3 months after treatment.
A | OCT of the left eye at baseline.
B | OCT of the left eye 3 months after treatment.

Panel A: Fundus photo. Panel B: OCT. Panel C: visual field.
A | Fundus photo.
B | OCT.
C | Visual field.

Ultra-widefield images of case 2. (a–c) Right eye at three visits. (d–f) Left eye at the same visits.
a | Ultra-widefield images of case 2. Right eye at three visits.
b | Ultra-widefield images of case 2. Right eye at three visits.
c | Ultra-widefield images of case 2. Right eye at three visits.
d | Ultra-widefield images of case 2. Left eye at the same visits.
e | Ultra-widefield images of case 2. Left eye at the same visits.
f | Ultra-widefield images of case 2. Left eye at the same visits.

Aa–Ac: fundus photographs. Ba–Bc: OCT images.
Aa | Fundus photographs.
Ab | Fundus photographs.
Ac | Fundus photographs.
Ba | OCT images.
Bb | OCT images.
Bc | OCT images.

(A1–A3) Fundus photographs. (B1–B3) OCT images.
A1 | Fundus photographs.
A2 | Fundus photographs.
A3 | Fundus photographs.
B1 | OCT images.
B2 | OCT images.
B3 | OCT images.

A–C and E: fundus photographs. D: OCT.
A | Fundus photographs.
B | Fundus photographs.
C | Fundus photographs.
D | OCT.
E | Fundus photographs.

Case 4. (A and B) Fundus photographs of both eyes. (C and D) Corresponding OCT scans.
A | Case 4. Fundus photographs of both eyes.
B | Case 4. Fundus photographs of both eyes.
C | Case 4. Corresponding OCT scans.
D | Case 4. Corresponding OCT scans.
"""

NESTED_AND_CROSSED = """
Fundus autofluorescence (A, B), OCT (C, D) and OCTA (E, F) of both eyes in patient 1 (A, C, E) and patient 2 (B, D, F).
A | Fundus autofluorescence of both eyes in patient 1.
B | Fundus autofluorescence of both eyes in patient 2.
C | OCT of both eyes in patient 1.
D | OCT of both eyes in patient 2.
E | OCTA of both eyes in patient 1.
F | OCTA of both eyes in patient 2.

(A, B) Color fundus photographs; (C, D) FAF images; and (E, F) SD-OCT scans of the right (A, C, E) and left (B, D, F) eyes.
A | Color fundus photographs of the right eyes.
B | Color fundus photographs of the left eyes.
C | FAF images of the right eyes.
D | FAF images of the left eyes.
E | SD-OCT scans of the right eyes.
F | SD-OCT scans of the left eyes.

Color fundus photographs (a, c) and corresponding fluorescein angiograms (b, d) of the right (a, b) and left eyes (c, d).
a | Color fundus photographs of the right eyes.
b | Corresponding fluorescein angiograms of the right eyes.
c | Color fundus photographs of the left eyes.
d | Corresponding fluorescein angiograms of the left eyes.

Fundus photographs (A1, B1), OCT (A2, B2) of patients 1 and 2.
A1 | Fundus photographs of patients 1 and 2.
A2 | OCT of patients 1 and 2.
B1 | Fundus photographs of patients 1 and 2.
B2 | OCT of patients 1 and 2.

(a) Section of the eye. A: cornea, B: lens, C: retina; (b) section of the retina. D: ganglion cells, E: photoreceptors.
a | Section of the eye. A: cornea, B: lens, C: retina.
b | Section of the retina. D: ganglion cells, E: photoreceptors.

(a) Normal retina. A: disc. B: macula. (b) Choroid. A: sclera. B: vessel.
a | Normal retina. A: disc. B: macula.
b | Choroid. A: sclera. B: vessel.
"""

RESPECTIVELY = """
Fundus photographs of the right and left eyes (A and B, respectively).
A | Fundus photographs of the right eyes.
B | Fundus photographs of the left eyes.

OCT before and after surgery (A and B, respectively).
A | OCT before surgery.
B | OCT after surgery.

Fundus photographs (A, B), FAF (C, D), and OCT (E, F) of the right and left eyes, respectively.
A | Fundus photographs of the right eyes.
B | Fundus photographs of the left eyes.
C | FAF of the right eyes.
D | FAF of the left eyes.
E | OCT of the right eyes.
F | OCT of the left eyes.

(A, B) Fundus photographs of the right and left eye, respectively. (C) OCT of the right eye.
A | Fundus photographs of the right eye.
B | Fundus photographs of the left eye.
C | OCT of the right eye.

(a–c) Right eye at baseline, month 3 and month 6, respectively. (d) Left eye.
a | Right eye at baseline, month 3 and month 6, respectively.
b | Right eye at baseline, month 3 and month 6, respectively.
c | Right eye at baseline, month 3 and month 6, respectively.
d | Left eye.

(A, C) Retina of a control (magnification ×10 and ×40, respectively). (B, D) Retina of a patient.
A | Retina of a control (magnification ×10 and ×40, respectively).
B | Retina of a patient.
C | Retina of a control (magnification ×10 and ×40, respectively).
D | Retina of a patient.
"""

PLACES = """
Left: color fundus photograph. Right: OCT.
left | Color fundus photograph.
right | OCT.

Color fundus photography (top) and fluorescein angiography (bottom) of the right eye.
top | Color fundus photography of the right eye.
bottom | Fluorescein angiography of the right eye.

(Left) Fundus photograph. (Right) OCT image.
left | Fundus photograph.
right | OCT image.

Preoperative (left) and postoperative (right) OCT images.
left | Preoperative OCT images.
right | Postoperative OCT images.

Top row: color fundus photographs. Middle row: segmented vessels. Bottom row: ground truth.
top row | Color fundus photographs.
middle row | Segmented vessels.
bottom row | Ground truth.

The upper row shows fundus photographs and the lower row shows OCT scans.
upper row | The upper row shows fundus photographs.
lower row | The lower row shows OCT scans.

The left panel shows the fundus photograph and the right panel shows the OCT scan.
left | The left panel shows the fundus photograph.
right | The right panel shows the OCT scan.

First row: original images. Second row: ground truth. Third row: predictions.
first row | Original images.
second row | Ground truth.
third row | Predictions.

Results for DRIVE (first row), STARE (second row) and CHASE (third row).
first row | Results for DRIVE.
second row | Results for STARE.
third row | Results for CHASE.

Upper left, fundus photograph; upper right, FA; lower left, ICGA; lower right, OCT.
upper left | Fundus photograph.
upper right | FA.
lower left | ICGA.
lower right | OCT.
"""

SHARED_SENTENCES = """
(A) Right eye. (B) Left eye. Note the cotton wool spots (arrows) in both eyes.
A | Right eye. Note the cotton wool spots (arrows) in both eyes.
B | Left eye. Note the cotton wool spots (arrows) in both eyes.

(A–C) OCT B-scans of patients 1–3. (D) Mean retinal thickness (n = 20). *p < 0.05.
A | OCT B-scans of patients 1–3. *p < 0.05.
B | OCT B-scans of patients 1–3. *p < 0.05.
C | OCT B-scans of patients 1–3. *p < 0.05.
D | Mean retinal thickness (n = 20). *p < 0.05.

A 34-year-old woman with optic neuritis. (A) Fundus photograph. (B) OCT. FAZ: foveal avascular zone.
A | A 34-year-old woman with optic neuritis. Fundus photograph. FAZ: foveal avascular zone.
B | A 34-year-old woman with optic neuritis. OCT. FAZ: foveal avascular zone.

(A) Fundus photograph. (B) OCT scan with the ILM and RPE. ILM, inner limiting membrane; RPE, retinal pigment epithelium.
A | Fundus photograph.
B | OCT scan with the ILM and RPE. ILM, inner limiting membrane; RPE, retinal pigment epithelium.

(A) Cornea. Scale bar, 50 µm. (B) Lens. Scale bar, 20 µm.
A | Cornea. Scale bar, 50 µm.
B | Lens. Scale bar, 20 µm.

Retinal flat mounts of (a) wild-type and (b) mutant mice. All images were taken at ×20 magnification.
a | Retinal flat mounts of wild-type mice. All images were taken at ×20 magnification.
b | Retinal flat mounts of mutant mice. All images were taken at ×20 magnification.
"""

REFERENCES = """
(A) OCT of the patient shown in Figure 2A. (B) Same patient as in (A) after 1 year.
A | OCT of the patient shown in Figure 2A.
B | Same patient as in (A) after 1 year.

Figure shows fundus photo (A), the green line indicating the position of the OCT scan shown in (B).
A | Figure shows fundus photo.
B | The green line indicating the position of the OCT scan shown in (B).

(A) Fundus photograph. (B) Magnified view of the boxed area in A. (C) OCT along the line in panel B.
A | Fundus photograph.
B | Magnified view of the boxed area in A.
C | OCT along the line in panel B.

(A) Fundus of a patient with hepatitis B. (B) OCT of a patient with vitamin A deficiency.
A | Fundus of a patient with hepatitis B.
B | OCT of a patient with vitamin A deficiency.
"""

IN_BRACKETS = """
Wide-field photographs show peripheral avascular retina (A, right eye; B, left eye).
A | Wide-field photographs show peripheral avascular retina (right eye).
B | Wide-field photographs show peripheral avascular retina (left eye).

Fundus photographs (A: right eye, B: left eye) showing bilateral disc edema.
A | Fundus photographs (right eye) showing bilateral disc edema.
B | Fundus photographs (left eye) showing bilateral disc edema.

Fundus photographs of a 5-year-old boy (A = right eye, B = left eye).
A | Fundus photographs of a 5-year-old boy (right eye).
B | Fundus photographs of a 5-year-old boy (left eye).

Fundus photograph (A: OD, B: OS) and fluorescein angiography (C: OD, D: OS).
A | Fundus photograph (OD).
B | Fundus photograph (OS).
C | Fluorescein angiography (OD).
D | Fluorescein angiography (OS).

Fundus photographs at presentation (A: right eye; B: left eye) and after 3 months (C: right eye; D: left eye).
A | Fundus photographs at presentation (right eye).
B | Fundus photographs at presentation (left eye).
C | Fundus photographs after 3 months (right eye).
D | Fundus photographs after 3 months (left eye).

Fundus photograph (A) and fluorescein angiography (B, early phase; C, late phase) of the right eye.
A | Fundus photograph of the right eye.
B | Fluorescein angiography (early phase) of the right eye.
C | Fluorescein angiography (late phase) of the right eye.

OCT of the eye (left: before treatment; right: after treatment).
left | OCT of the eye (before treatment).
right | OCT of the eye (after treatment).
"""

LISTS_IN_LISTS = """
Color fundus photograph (A), infrared image (B), and OCT scans through the fovea (C) and the optic disc (D).
A | Color fundus photograph.
B | Infrared image.
C | OCT scans through the fovea.
D | OCT scans through the optic disc.

Fundus photo OD (A), OS (B), FA OD (C), and OS (D).
A | Fundus photo OD.
B | Fundus photo OS.
C | FA OD.
D | FA OS.

Fluorescein angiography, early phase (A), and late phase (B); indocyanine green angiography, early phase (C), and late phase (D).
A | Fluorescein angiography, early phase.
B | Fluorescein angiography, late phase.
C | Indocyanine green angiography, early phase.
D | Indocyanine green angiography, late phase.

OCT B-scans of a control subject (A) and of patients with mild (B) and severe (C) diabetic macular edema.
A | OCT B-scans of a control subject.
B | OCT B-scans of patients with mild diabetic macular edema.
C | OCT B-scans of patients with severe diabetic macular edema.

(A) Fundus and (B) FA of the right eye; (C) fundus and (D) FA of the left eye.
A | Fundus of the right eye.
B | FA of the right eye.
C | Fundus of the left eye.
D | FA of the left eye.

Optical coherence tomography of the right (A) and left (B) macula, and fluorescein angiography of the right (C) and left (D) eye.
A | Optical coherence tomography of the right macula.
B | Optical coherence tomography of the left macula.
C | Fluorescein angiography of the right eye.
D | Fluorescein angiography of the left eye.

Fundus images before (a, c) and after (b, d) laser treatment in patients 1 (a, b) and 2 (c, d).
a | Fundus images before laser treatment in patients 1.
b | Fundus images after laser treatment in patients 1.
c | Fundus images before laser treatment in patients 2.
d | Fundus images after laser treatment in patients 2.

OCT at baseline (A) and after 1 (B), 3 (C), and 6 (D) months.
A | OCT at baseline.
B | OCT after 1 months.
C | OCT after 3 months.
D | OCT after 6 months.

Sections stained for VEGF in (A) control, (B) diabetic and (C) treated diabetic rats.
A | Sections stained for VEGF in control rats.
B | Sections stained for VEGF in diabetic rats.
C | Sections stained for VEGF in treated diabetic rats.

Patient 1 (A–C) and patient 2 (D–F): color fundus photograph (A, D), FAF (B, E) and OCT (C, F).
A | Patient 1: color fundus photograph.
B | Patient 1: FAF.
C | Patient 1: OCT.
D | Patient 2: color fundus photograph.
E | Patient 2: FAF.
F | Patient 2: OCT.

Correlation of macular pigment with age (A) (r = 0.12, P = 0.3) and of disc area with age (B) (r = 0.34, P = 0.01).
A | Correlation of macular pigment with age (r = 0.12, P = 0.3).
B | Correlation of disc area with age (r = 0.34, P = 0.01).

Fundus (a), FAF (b) and OCT (c) of a patient with Stargardt disease; the arrow in (c) marks the loss of the ellipsoid zone.
a | Fundus of a patient with Stargardt disease.
b | FAF of a patient with Stargardt disease.
c | OCT of a patient with Stargardt disease; the arrow in (c) marks the loss of the ellipsoid zone.
"""

WITHOUT_BRACKETS = """
Spectral-domain OCT of the left macula. A, Horizontal and B, vertical scans showing cystoid spaces. C, D, Same scans later.
A | Spectral-domain OCT of the left macula. Horizontal scans showing cystoid spaces.
B | Spectral-domain OCT of the left macula. Vertical scans showing cystoid spaces.
C | Spectral-domain OCT of the left macula. Same scans later.
D | Spectral-domain OCT of the left macula. Same scans later.

Open chromatin. a, b Tracks at the RHO (a) and ABCA4 (b) loci. c Enriched motifs.
a | Open chromatin. Tracks at the RHO loci.
b | Open chromatin. Tracks at the ABCA4 loci.
c | Open chromatin. Enriched motifs.

Change of the parameters: a BCVA, b CMT, c IOP, d contrast sensitivity.
a | Change of the parameters: BCVA.
b | Change of the parameters: CMT.
c | Change of the parameters: IOP.
d | Change of the parameters: contrast sensitivity.

The steps: A, raw image; B, threshold; C, mask.
A | The steps: raw image.
B | The steps: threshold.
C | The steps: mask.

Modes of release. Panel (A) Transient release. Panel (B) Sustained release.
A | Modes of release. Transient release.
B | Modes of release. Sustained release.

1 Preoperative photograph. 2 Photograph after 30 days.
1 | Preoperative photograph.
2 | Photograph after 30 days.

Expression in the eye. (A–A′) Wild type. (B–B′) Mutant.
A | Expression in the eye. Wild type.
B | Expression in the eye. Mutant.
"""

LETTERS_THAT_NAME_NO_PANEL = """
(A) OCT: drusen (a), detachment (b) and atrophy (c) are outlined. (B) Photograph of the same eye.
A | OCT: drusen (a), detachment (b) and atrophy (c) are outlined.
B | Photograph of the same eye.

(A) Volume; rods (R), cones (C) and bipolar cells (B) are coloured. (B) Amacrine cell. (C) Synapses per cell.
A | Volume; rods (R), cones (C) and bipolar cells (B) are coloured.
B | Amacrine cell.
C | Synapses per cell.

A. Limbal dermoid. B. Photograph after surgery. C. Epithelium (E) over dense stroma with hair follicles (H).
A | Limbal dermoid.
B | Photograph after surgery.
C | Epithelium (E) over dense stroma with hair follicles (H).

Depth of the sclera at the spur (A), the limbus (B) and the insertion (C). AS, anterior sclera; C, cornea.
A | Depth of the sclera at the spur. AS, anterior sclera; C, cornea.
B | Depth of the sclera at the limbus. AS, anterior sclera; C, cornea.
C | Depth of the sclera at the insertion. AS, anterior sclera; C, cornea.
"""

GRIDS = """
Top row: color photographs; bottom row: OCT. Left column, baseline; middle column, month 3; right column, month 6.
top row | Color photographs. Left column, baseline; middle column, month 3; right column, month 6.
bottom row | OCT. Left column, baseline; middle column, month 3; right column, month 6.

Denoising. First row: noisy image. Second row: ours. The left column shows the whole image, the right column a part.
first row | Denoising. Noisy image. The left column shows the whole image, the right column a part.
second row | Denoising. Ours. The left column shows the whole image, the right column a part.

OCT angiography of the superficial (left column) and deep (right column) plexus. First row: control. Second row: patient.
left column | OCT angiography of the superficial plexus. First row: control. Second row: patient.
right column | OCT angiography of the deep plexus. First row: control. Second row: patient.

Optic discs: upper left, right eye, color; upper right, left eye, color; lower left, right eye; lower right, left eye.
upper left | Optic discs: right eye, color.
upper right | Optic discs: left eye, color.
lower left | Optic discs: right eye.
lower right | Optic discs: left eye.

Appearance after surgery. On the left, the bleb is diffuse; on the right, it is encapsulated.
left | Appearance after surgery. On the left, the bleb is diffuse.
right | Appearance after surgery. On the right, it is encapsulated.

Phenotypes. A–C. Bright field. D–F. Fluorescence. Genotypes are wild type (A, D), mutant (B, E) and rescued (C, F).
A | Phenotypes. Bright field. Genotypes are wild type.
B | Phenotypes. Bright field. Genotypes are mutant.
C | Phenotypes. Bright field. Genotypes are rescued.
D | Phenotypes. Fluorescence. Genotypes are wild type.
E | Phenotypes. Fluorescence. Genotypes are mutant.
F | Phenotypes. Fluorescence. Genotypes are rescued.
"""

ABOUT_THE_WHOLE_FIGURE = """
Right eye. (a) At presentation. (b) After a year. The colour version of this figure is available online.
a | Right eye. At presentation. The colour version of this figure is available online.
b | Right eye. After a year. The colour version of this figure is available online.

Optic nerve head. (A) Baseline. (B) 8 weeks. (C, D) Profiles along the lines in (A) and (B). The plane is shown in red.
A | Optic nerve head. Baseline. The plane is shown in red.
B | Optic nerve head. 8 weeks. The plane is shown in red.
C | Optic nerve head. Profiles along the lines in (A) and (B). The plane is shown in red.
D | Optic nerve head. Profiles along the lines in (A) and (B). The plane is shown in red.

Graphs showing (A) mean pressure and (B) number of drugs during follow-up. White arrows mark the operation.
A | Graphs showing mean pressure during follow-up. White arrows mark the operation.
B | Graphs showing number of drugs during follow-up. White arrows mark the operation.

Magnetic resonance. (A) T1-weighted image and (B) T2-weighted image show a mass.
A | Magnetic resonance. T1-weighted image show a mass.
B | Magnetic resonance. T2-weighted image show a mass.
"""

BESIDE_OTHER_LISTS = """
OCT at baseline. A, B, C and D represent the first, second, third and fourth visit, respectively.
A | OCT at baseline. Represent the first, second, third and fourth visit, respectively.
B | OCT at baseline. Represent the first, second, third and fourth visit, respectively.
C | OCT at baseline. Represent the first, second, third and fourth visit, respectively.
D | OCT at baseline. Represent the first, second, third and fourth visit, respectively.

Fundus of a child. A Infrared photograph of the macula. B OCT through the fovea. The box is magnified in the inset (C) Drusen lift the pigment epithelium.
A | Fundus of a child. Infrared photograph of the macula.
B | Fundus of a child. OCT through the fovea. The box is magnified in the inset.
C | Fundus of a child. Drusen lift the pigment epithelium.

Thickness of the retina. (A) Means of both groups; different letters (a and b) stand for significant differences. (B) Medians. (A, B) Bars are standard deviations.
A | Thickness of the retina. Means of both groups; different letters (a and b) stand for significant differences. Bars are standard deviations.
B | Thickness of the retina. Medians. Bars are standard deviations.

Model of a lens. (Top) Forces in the capsule. (Bottom) Change of shape by two components: (i) passive stretch and (ii) active growth.
top | Model of a lens. Forces in the capsule.
bottom | Model of a lens. Change of shape by two components: (i) passive stretch and (ii) active growth.

OCT scans of a girl with JNCL (top, Patient 1) and of another one (middle, Patient 2). The scan of a healthy girl (below) is an average.
top | OCT scans of a girl with JNCL (Patient 1).
middle | OCT scans of another one (Patient 2).
below | The scan of a healthy girl is an average.

OCT of the left eye. a. Folds of the choroid and b. Flat choroid.
a | OCT of the left eye. Folds of the choroid.
b | OCT of the left eye. Flat choroid.

Factor analysis of the thickness maps. A. Share of variance, B. Loadings of factor 1, C. Loadings of factor 2, D. Scatter plot.
A | Factor analysis of the thickness maps. Share of variance.
B | Factor analysis of the thickness maps. Loadings of factor 1.
C | Factor analysis of the thickness maps. Loadings of factor 2.
D | Factor analysis of the thickness maps. Scatter plot.

Analysis of volatiles (A) by weight and (B) by volume; only (E)-hex-2-enal was found.
A | Analysis of volatiles by weight.
B | Analysis of volatiles by volume; only (E)-hex-2-enal was found.
"""

NAMES_THAT_OPEN_OR_REFER = """
Measuring the choroid. Figure 1A shows where the scans lie. The macular scan is 9 mm long. In Figure 1B, the choroid is outlined. Figure 1C is a scan around the disc.
A | Measuring the choroid. Figure 1A shows where the scans lie. The macular scan is 9 mm long.
B | Measuring the choroid. In Figure 1B, the choroid is outlined.
C | Measuring the choroid. Figure 1C is a scan around the disc.

Panel A – A montage of the right eye. Bone spicules are seen. Panel B – Higher magnification of the same eye.
A | A montage of the right eye. Bone spicules are seen.
B | Higher magnification of the same eye.

Correlation of choroidal thickness with three factors. a, Thickness falls with refraction (p = 0.01).b, Thickness rises with axial length (p = 0.02).c, Thickness rises with age (p = 0.03).
a | Correlation of choroidal thickness with three factors. Thickness falls with refraction (p = 0.01).
b | Correlation of choroidal thickness with three factors. Thickness rises with axial length (p = 0.02).
c | Correlation of choroidal thickness with three factors. Thickness rises with age (p = 0.03).

Loss of axons. (a) Counts after two weeks. (b, c). Micrographs of a control and a treated nerve. The inset shows vacuoles. (d). Confocal images of the retina.
a | Loss of axons. Counts after two weeks.
b | Loss of axons. Micrographs of a control and a treated nerve. The inset shows vacuoles.
c | Loss of axons. Micrographs of a control and a treated nerve. The inset shows vacuoles.
d | Loss of axons. Confocal images of the retina.

Sections of the retina. A, B, C: Nuclei; D, E, F – Ganglion cells; G, H, I – Astrocytes.
A | Sections of the retina. Nuclei.
B | Sections of the retina. Nuclei.
C | Sections of the retina. Nuclei.
D | Sections of the retina. Ganglion cells.
E | Sections of the retina. Ganglion cells.
F | Sections of the retina. Ganglion cells.
G | Sections of the retina. Astrocytes.
H | Sections of the retina. Astrocytes.
I | Sections of the retina. Astrocytes.

Vascular maps. (a) Intensity of the scan. The maps lie at depths of approximately (b) 60 μm, (c) 100 μm and (d) 150 μm.
a | Vascular maps. Intensity of the scan.
b | Vascular maps. The maps lie at depths of approximately 60 μm.
c | Vascular maps. The maps lie at depths of approximately 100 μm.
d | Vascular maps. The maps lie at depths of approximately 150 μm.

Angiograms of 3 mm (a) and 6 mm (b). Fluorescein angiography (c) shows less detail than the angiograms (a, b).
a | Angiograms of 3 mm.
b | Angiograms of 6 mm.
c | Fluorescein angiography shows less detail than the angiograms (a, b).

The vessels lie in the superficial plexus (A), which supplies the nerve fibres, and the deep plexus (B), which supplies the inner nuclear layer.
A | The vessels lie in the superficial plexus, which supplies the nerve fibres.
B | The vessels lie in the deep plexus, which supplies the inner nuclear layer.

Fundus before (A) and after (B) treatment. The detachment (A) was resolved by photodynamic therapy (B).
A | Fundus before treatment. The detachment was resolved by photodynamic therapy.
B | Fundus after treatment. The detachment was resolved by photodynamic therapy.
"""

PARTS_OF_PANELS = """
(a) Case 1. (a1) Fundus. Exudates lie around the fovea. (a2) OCT. (b) Case 2. (b1) Fundus. (b2) OCT. (c) Case 3.
a | Case 1. (a1) Fundus. Exudates lie around the fovea. (a2) OCT.
b | Case 2. (b1) Fundus. (b2) OCT.
c | Case 3.

(A) B-scans. (A1) Patient 1. (A2) Patient 2. The hole is closed. (B) Angiograms. (B1) Patient 1. The dye leaks.
A | B-scans. (A1) Patient 1. (A2) Patient 2. The hole is closed.
B | Angiograms. (B1) Patient 1. The dye leaks.

(A) Case 1: (A1) fundus, (A2) OCT. Fluid is seen. (B) Case 2: (B1) fundus, (B2) OCT.
A | Case 1: (A1) fundus, (A2) OCT. Fluid is seen.
B | Case 2: (B1) fundus, (B2) OCT.

(A) Carcinoma (Ca) beside limbal epithelium. (B) Detail. (C) Recurrence.
A | Carcinoma (Ca) beside limbal epithelium.
B | Detail.
C | Recurrence.

(A) Rods and (B) rods at higher magnification in a mutant.
A | Rods in a mutant.
B | Rods at higher magnification in a mutant.
"""

FURTHER_HEADS = """
i. Colour photograph. ii. Infrared image. iii. B-scan along the line in ii.
i | Colour photograph.
ii | Infrared image.
iii | B-scan along the line in ii.

a–c basic models. d model with clinical data. e longitudinal model.
a | Basic models.
b | Basic models.
c | Basic models.
d | Model with clinical data.
e | Longitudinal model.

In the left image the haze is dense; in the right image, taken later, it has faded.
left | In the left image the haze is dense.
right | In the right image, taken later, it has faded.

Three eyes with vitelliform lesions: A–C.
A | Three eyes with vitelliform lesions.
B | Three eyes with vitelliform lesions.
C | Three eyes with vitelliform lesions.
"""

GLOSSARIES = """
Sections of the eye (A, B) and of the orbit (C). A: artery, B: bone, C: cornea, D: duct.
A | Sections of the eye. A: artery, B: bone, C: cornea, D: duct.
B | Sections of the eye. A: artery, B: bone, C: cornea, D: duct.
C | Sections of the orbit. A: artery, B: bone, C: cornea, D: duct.

A. Retina. B. Choroid. A = amacrine; B = bipolar; H = horizontal.
A | Retina. A = amacrine; B = bipolar; H = horizontal.
B | Choroid. A = amacrine; B = bipolar; H = horizontal.

A, Control. B, Treated. Abbreviations: A, artery; B, bundle; C, cup.
A | Control. Abbreviations: A, artery; B, bundle; C, cup.
B | Treated. Abbreviations: A, artery; B, bundle; C, cup.
"""

WITHOUT_MARKS = """
Fundus photograph of the right eye a and the left eye b. Angiogram of the right eye c and the left eye d.
a | Fundus photograph of the right eye.
b | Fundus photograph of the left eye.
c | Angiogram of the right eye.
d | Angiogram of the left eye.

Photograph of the anterior segment a before and b after surgery.
a | Photograph of the anterior segment before surgery.
b | Photograph of the anterior segment after surgery.

1. Preoperative topography. 2. Topography one year after cross-linking.
1 | Preoperative topography.
2 | Topography one year after cross-linking.

Orbit CT: A axial, B coronal, C sagittal.
A | Orbit CT: axial.
B | Orbit CT: coronal.
C | Orbit CT: sagittal.

Fundus images: a. normal, b. glaucoma suspect, c. glaucoma.
a | Fundus images: normal.
b | Fundus images: glaucoma suspect.
c | Fundus images: glaucoma.

Panels A and B show the input.
A | Panels A and B show the input.
B | Panels A and B show the input.

Rods (a) and cones (b) of a mouse. b = basal; c = cilium; d = disc.
a | Rods of a mouse. b = basal; c = cilium; d = disc.
b | Cones of a mouse. b = basal; c = cilium; d = disc.
"""

SINGLE = """
Section of a gland. Abbreviations: du, duct; lo, lower part of the gland; up, upper part of the gland.
OCT of the anterior segment with cornea (C), lens (L), iris (I) and angle (A).
The values lie above (see below) the line.
Mean thickness in three groups. A, B and C differ significantly (Tukey).
Mean thickness in four groups. a, b, c and d denote significant differences.
Participants were excluded because of (i) ungradable photographs, (ii) missing data or (iii) previous surgery.
The light passed (1) a lens, (2) an artificial pupil and (3) a mirror.
Groups: A, control; B, treated.
Infection with hepatitis A, B, and C viruses.
Fundus photograph showing hemorrhages in vitamin A deficiency (arrow).
Mean deviation in hepatitis B patients (n = 3) and controls (p < 0.05).
Flow chart of the study. OCT: optical coherence tomography.
Fundus photograph of patient A. OCT of patient B.
The right eye (OD) and the left eye (OS) of the patient.
Fundus photograph of the right eye and OCT of the left eye.
Color fundus photograph of the left eye showing a choroidal nevus (arrow) and drusen (arrowheads).
Visual acuity in groups A and B at baseline and after 6 months (see Figure 2A and B).
OCT B-scan of the macula. GCL: ganglion cell layer; INL: inner nuclear layer; ONL: outer nuclear layer.
Genotypes A/A and A/B of the CFH gene (Y402H) in patients with AMD (a) and controls.
Stage I, II and III retinopathy of prematurity in zone I.
Fundus photograph of a 7-year-old boy (case 2) with Coats disease, stage 3A.
Kaplan–Meier curves of the eyes with (blue) and without (red) vitrectomy. Shaded areas: 95 % confidence intervals.
B-scan ultrasonography of the left eye shows a retinal detachment.
A-scan and B-scan images (I-III) were graded by two readers.
Fluorescein angiogram of the right eye showing leakage in the upper left quadrant and the lower right quadrant.
Architecture of the network: an encoder (left to right) and a decoder with skip connections.
Box plots of mean IOP (mmHg) at (1) baseline and (2) month 6.
Vessel density of the superficial (SCP) and deep (DCP) capillary plexus.
Injection of 0.5 mg ranibizumab (Lucentis) or 2 mg aflibercept (Eylea) in the right or the left eye.
T cells (T) and B cells (B) in the uvea.
Scaffolds for the cornea. Materials: A, agar; B, collagen; C, gelatin.
Arrows in the upper row mark drusen.
1. Cornea. 2. Iris. 3. Lens.
Axial lengths in groups: A–F.
The alleles a of the first and b of the second gene.
The artery a in the retina and the vein b in the choroid.
Kaplan–Meier curves for group A in blue, group B in red, and C in green.
Lengths of the axes a and b were measured on the scan.
Between distance a and distance b lies the fovea. Points c and d are fixed.
The b wave and the a wave of a scotopic electroretinogram.
OCT scan of the macula. The left side is nasal and the right side is temporal.
Mean IOP. a: p < 0.05 vs. baseline; b: p < 0.01 vs. baseline.
The boxes extend from the lower to the upper quartile; the line is the median.
"""

BLOCKS = [
    block
    for convention in (
        AFTER_THEIR_TEXT, SHARED_NOUNS, TIMES, WITHIN_THEIR_TEXT, BEFORE_THEIR_TEXT, NESTED_AND_CROSSED, RESPECTIVELY,
        PLACES, SHARED_SENTENCES, REFERENCES, IN_BRACKETS, LISTS_IN_LISTS, WITHOUT_BRACKETS, LETTERS_THAT_NAME_NO_PANEL, GRIDS,
        ABOUT_THE_WHOLE_FIGURE, BESIDE_OTHER_LISTS, NAMES_THAT_OPEN_OR_REFER, PARTS_OF_PANELS, FURTHER_HEADS, GLOSSARIES,
        WITHOUT_MARKS,
    )
    for block in convention.strip().split("\n\n")
]  # fmt: skip


@pytest.mark.parametrize("block", BLOCKS, ids=[block.splitlines()[0][:60] for block in BLOCKS])
def test_the_panels_of_a_typical_caption(block: str) -> None:
    caption, *lines = block.splitlines()
    expected = dict(line.split(" | ", 1) for line in lines)
    split = split_caption(caption)
    assert {subcaption.identifier: subcaption.text for subcaption in split.subcaptions} == expected
    assert all(subcaption.text == join_segments(caption, subcaption.segments) for subcaption in split.subcaptions)


@pytest.mark.parametrize("caption", SINGLE.strip().splitlines())
def test_a_typical_caption_of_one_panel_stays_whole(caption: str) -> None:
    (subcaption,) = split_caption(caption).subcaptions
    assert (subcaption.identifier, subcaption.text) == (None, caption)

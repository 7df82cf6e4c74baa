"""Captions that are hard to split, with the subcaptions that the grammar finds and what it is not sure of."""

# ruff: noqa: E501 (a caption is a line)

from __future__ import annotations

import pytest

from pmo_assets.pipeline.captions.split import split_caption

CAPTIONS = """
One vessel was chosen in the macula (b). We were interested in the part marked in red (c). The cut is shown in (d) and the rest is shown in (e)
a |
b | One vessel was chosen in the macula.
c | We were interested in the part marked in red.
d | The cut is shown in (d)
e | The rest is shown in (e)
? panel without text; identifier missing in the series; several identifiers after their text in one sentence

Axial scan (a) demonstrating a lesion with surrounding edema. T1-weighted images showing (b) axial, (c) sagittal, and (d) coronal views of the mass.
a | Axial scan demonstrating a lesion with surrounding edema.
b | T1-weighted images showing axial views of the mass.
c | T1-weighted images showing sagittal views of the mass.
d | T1-weighted images showing coronal views of the mass.
? end shared by several panels; list inside a sentence

Tumor of the orbit. A. H&E section of the tumor [400*] mass. B. PAS section of the same mass. C. Magnification of the box in A.
A | Tumor of the orbit. H&E section of the tumor [400*] mass.
B | Tumor of the orbit. PAS section of the same mass.
C | Tumor of the orbit. Magnification of the box in A.
?

Drusen were seen in the macula (upper left panel) and periphery (upper right panel). Macular drusen show soft edges (upper left panel).
upper left | Drusen were seen in the macula. Macular drusen show soft edges.
upper right | Drusen were seen in the periphery.
? several identifiers after their text in one sentence; identifiers named again; panels named by position

Layers of two retinas. Thickness (24) is mapped on the layers. (A) Normal retina with all layers. (B) Diabetic retina. Thick layers are shown in red. Thin layers are shown in blue.
A | Layers of two retinas. Thickness (24) is mapped on the layers. Normal retina with all layers. Thick layers are shown in red. Thin layers are shown in blue.
B | Layers of two retinas. Thickness (24) is mapped on the layers. Diabetic retina. Thick layers are shown in red. Thin layers are shown in blue.
? closing sentences may concern one panel or all; sentences after the last panel's first

Detection of fluid in (a) 'trial', (b) 'clinic' and (c) 'challenge' test sets. The curves are shown for the baseline and the new model.
a | Detection of fluid in 'trial' test sets. The curves are shown for the baseline and the new model.
b | Detection of fluid in 'clinic' test sets. The curves are shown for the baseline and the new model.
c | Detection of fluid in 'challenge' test sets. The curves are shown for the baseline and the new model.
? end shared by several panels; list inside a sentence

The tumor was solid (a). Necrosis and hemorrhage were seen (b) and there was strong CD34 staining (c), as well as diffuse CD99 staining (d).
a | The tumor was solid.
b | Necrosis and hemorrhage were seen.
c | There was strong CD34 staining.
d | Diffuse CD99 staining.
? several identifiers after their text in one sentence

Lateral radiographs showing thin bones, flat vertebrae (a, b), skull X-ray revealed a cleft (c).
a | Lateral radiographs showing thin bones, flat vertebrae.
b | Lateral radiographs showing thin bones, flat vertebrae.
c | Skull X-ray revealed a cleft.
? several identifiers after their text in one sentence

Perception is simulated either with (bottom) or without (top) rastering.
bottom | Perception is simulated either with rastering.
top | Perception is simulated either without rastering.
? identifier within its text; panels named by position; text after the last identifier of a sentence

Concurrent sections stained with hematoxylin and eosin (left panel) and immunofluorescence (right panel) for rhodopsin.
left | Concurrent sections stained with hematoxylin and eosin for rhodopsin.
right | Concurrent sections stained with immunofluorescence for rhodopsin.
? identifier within its text; panels named by position; text after the last identifier of a sentence

Paraxial (a) and parasagittal (b) projections from a CT scan, demonstrating the site of the tumor, confirmed by reconstruction (c).
a | Paraxial projections from a CT scan, demonstrating the site of the tumor.
b | Parasagittal projections from a CT scan, demonstrating the site of the tumor.
c | Confirmed by reconstruction.
? identifier within its text; text between identifiers without a separator

MRI long axis (a) and short axis (b) images of the orbit, with contrast enhanced long axis ((c), (d)) acquisition.
a | MRI long axis images of the orbit.
b | Short axis images of the orbit.
c | With contrast enhanced long axis acquisition.
d | With contrast enhanced long axis acquisition.
? identifier within its text; text between identifiers without a separator; text after the last identifier of a sentence

(A) Cornea. (B) Lens. Data are mean ± SD. *p < 0.05, **p < 0.01. Both images are at the same scale.
A | Cornea. Data are mean ± SD. *p < 0.05, **p < 0.01. Both images are at the same scale.
B | Lens. Data are mean ± SD. *p < 0.05, **p < 0.01. Both images are at the same scale.
? sentences after the last panel's first

Histology of a tumor. a Clear cells (H&E stain, 200*). b The clear cells show staining. All images 200x. CK, cytokeratin; SMA, actin.
a | Histology of a tumor. Clear cells (H&E stain, 200*). All images 200x. CK, cytokeratin; SMA, actin.
b | Histology of a tumor. The clear cells show staining. All images 200x. CK, cytokeratin; SMA, actin.
? identifiers without brackets; sentences after the last panel's first

Fundus images before treatment (A), after 3 months (B) and one year after treatment (C).
A | Fundus images before treatment.
B | Fundus images after 3 months.
C | Fundus images one year after treatment.
? several identifiers after their text in one sentence

OCT at baseline (A), at 3 months (B), and at 12 months (C).
A | OCT at baseline.
B | OCT at 3 months.
C | OCT at 12 months.
? several identifiers after their text in one sentence

OCT of the right eye on day 1 (A), day 7 (B) and day 30 (C) after injection.
A | OCT of the right eye on day 1 after injection.
B | OCT of the right eye on day 7 after injection.
C | OCT of the right eye on day 30 after injection.
? identifier within its text; text after the last identifier of a sentence

FA, early (A) and late phase (B); ICGA, early (C) and late phase (D).
A | FA, early phase.
B | FA, late phase.
C | ICGA, early phase.
D | ICGA, late phase.
? several identifiers after their text in one sentence

Thin (A), thick (B) and unstained (C) sections of the cornea.
A | Thin sections of the cornea.
B | Thick sections of the cornea.
C | Unstained sections of the cornea.
? identifier within its text; text after the last identifier of a sentence

Optic discs of a patient with glaucoma (A) and of a healthy subject (B), respectively.
A | Optic discs of a patient with glaucoma, respectively.
B | Optic discs of a healthy subject, respectively.
? several identifiers after their text in one sentence; panels distributed by 'respectively'; text after the last identifier of a sentence

Rods and cones are shown in panels a and b, respectively.
None | Rods and cones are shown in panels a and b, respectively.
?

Retina of wild type and mutant mice (A and B, respectively).
A | Retina of wild type and mutant mice.
B | Retina of wild type and mutant mice.
? panels distributed by 'respectively'

T1- (a) and T2-weighted (b) images of the orbit.
a | T1-images of the orbit.
b | T2-weighted images of the orbit.
? identifier within its text; text after the last identifier of a sentence

Panel A shows the fundus. In panel B, the scan is shown. Both panels are of one eye.
A | Panel A shows the fundus. Both panels are of one eye.
B | In panel B, the scan is shown. Both panels are of one eye.
? no identifier stands alone; identifier in running text; sentences after the last panel's first

Fundus (A). OCT (B). The images in A and B are of the same eye.
A | Fundus. The images in A and B are of the same eye.
B | OCT. The images in A and B are of the same eye.
?

"Early" (A) and "late" (B) stages of the disease.
A | "Early" stages of the disease.
B | "late" stages of the disease.
? identifier within its text; text after the last identifier of a sentence

Images showing (a) – drusen; (b) – exudates; and (c) – both in the left eye.
a | Images showing – drusen.
b | Images showing – exudates.
c | Images showing – both in the left eye.
? list inside a sentence

(A) Fundus of the right eye and (B) of the left eye. (C) OCT of the right eye and (D) of the left eye. Patient of 60 years.
A | Fundus of the right eye. Patient of 60 years.
B | Of the left eye. Patient of 60 years.
C | OCT of the right eye. Patient of 60 years.
D | Of the left eye. Patient of 60 years.
? several panels in one sentence; closing sentences may concern one panel or all; sentences after the last panel's first

(A, B) Fundus photographs and (C, D) OCT scans of the right (A, C) and left (B, D) eyes.
A | Fundus photographs of the right eyes.
B | Fundus photographs of the left eyes.
C | OCT scans of the right eyes.
D | OCT scans of the left eyes.
? several panels in one sentence; identifiers within a section; text after the last identifier of a sentence

Surgery. (A) An incision was made. The lens was removed (arrow). (B) The wound was closed. Sutures were placed. The eye was patched.
A | Surgery. An incision was made. The lens was removed (arrow).
B | Surgery. The wound was closed. Sutures were placed. The eye was patched.
? sentences after the last panel's first

The retina is intact (A). There is no fluid. The macula is swollen (B). Fluid is seen.
A | The retina is intact. Fluid is seen.
B | There is no fluid. The macula is swollen. Fluid is seen.
? a sentence without identifier between labelled ones

Responses of cells (A: rods, B: cones) to light. Bars show SEM.
A | Responses of cells (rods) to light. Bars show SEM.
B | Responses of cells (cones) to light. Bars show SEM.
? list inside brackets

Visual field (A) of the right eye, and OCT (B) of the left eye. (C) Fundus photograph.
A | Visual field of the right eye.
B | OCT of the left eye.
C | Fundus photograph.
? identifier within its text; text between identifiers without a separator; text after the last identifier of a sentence

Slit-lamp photograph shows a clear cornea (A), whereas the fellow eye shows an opaque cornea (B).
A | Slit-lamp photograph shows a clear cornea.
B | The fellow eye shows an opaque cornea.
? several identifiers after their text in one sentence

In the right eye (A), vision was good, but in the left eye (B), vision was poor.
A | In the right eye, vision was good.
B | In the left eye, vision was poor.
? several identifiers after their text in one sentence

(a) The fovea, (b) the disc and (c) the vessels of a healthy eye were marked.
a | The fovea of a healthy eye were marked.
b | The disc of a healthy eye were marked.
c | The vessels of a healthy eye were marked.
? several panels in one sentence; end shared by several panels

A: OCT, fovea. B: OCT, disc. Note the cysts (arrows, A and B).
A | OCT, fovea. Note the cysts (arrows).
B | OCT, disc. Note the cysts (arrows).
? identifiers named again; identifiers before and after their text

Left: fundus. Right: OCT of the left eye. Both show drusen.
left | Fundus. Both show drusen.
right | OCT of the left eye. Both show drusen.
? panels named by position; sentences after the last panel's first

(A) Drusen, OD. (B) Drusen, OS. (C–E) Same as (A, B), but at a later stage. ONL, outer nuclear layer; RPE, retinal pigment epithelium.
A | Drusen, OD. ONL, outer nuclear layer; RPE, retinal pigment epithelium.
B | Drusen, OS. ONL, outer nuclear layer; RPE, retinal pigment epithelium.
C | Same as (A, B), but at a later stage. ONL, outer nuclear layer; RPE, retinal pigment epithelium.
D | Same as (A, B), but at a later stage. ONL, outer nuclear layer; RPE, retinal pigment epithelium.
E | Same as (A, B), but at a later stage. ONL, outer nuclear layer; RPE, retinal pigment epithelium.
? several panels named inside another's text; sentences after the last panel's first

Correlation of thickness with age (A) (r = 0.12, p = 0.3) and BMI (B).
A | Correlation of thickness with age (r = 0.12, p = 0.3).
B | Correlation of thickness with BMI.
? identifier within its text; text between identifiers without a separator

The tumor was solid (a). Necrosis and hemorrhage were seen (b) and there was patchy and strong CD34 staining (c), as well as strong and diffuse CD99 staining (d).
a | The tumor was solid.
b | Necrosis and hemorrhage were seen.
c | There was patchy and strong CD34 staining.
d | Strong and diffuse CD99 staining.
? several identifiers after their text in one sentence

The cornea was clear (a), and the lens was opaque and white (b).
a | The cornea was clear.
b | The lens was opaque and white.
? several identifiers after their text in one sentence

The cornea was clear (a), but the lens was opaque and the iris was dark (b).
a | The cornea was clear.
b | The lens was opaque and the iris was dark.
? several identifiers after their text in one sentence

(A) Rods, (B) cones, (C) cells of the retina of mice.
A | Rods of the retina of mice.
B | Cones of the retina of mice.
C | Cells of the retina of mice.
? several panels in one sentence; end shared by several panels

Images of (A) rods, (B) cones, (C) ganglion cells of young mice.
A | Images of rods of young mice.
B | Images of cones of young mice.
C | Images of ganglion cells of young mice.
? end shared by several panels; list inside a sentence

(A) Rods, (B) cones of the retina of mice; (C) lens, (D) cornea of rats.
A | Rods.
B | Cones of the retina of mice.
C | Lens.
D | Cornea of rats.
? several panels in one sentence

(A) Rods and (B) cones of the retina of mice; (C) lens and (D) cornea of rats.
A | Rods of the retina of mice.
B | Cones of the retina of mice.
C | Lens of rats.
D | Cornea of rats.
? several panels in one sentence; end shared by several panels

(A) FAF and (B) OCT of the right eye; (C) FAF and (D) OCT of the left eye.
A | FAF of the right eye.
B | OCT of the right eye.
C | FAF of the left eye.
D | OCT of the left eye.
? several panels in one sentence; end shared by several panels

(A) Control eye. The lens is clear. (B) Treated eye and (C) fellow eye. Arrows mark drusen. Bars show means.
A | Control eye. The lens is clear. Arrows mark drusen. Bars show means.
B | Treated eye. Arrows mark drusen. Bars show means.
C | Fellow eye. Arrows mark drusen. Bars show means.
? several panels in one sentence; sentences after the last panel's first

(A) Fundus and (B) OCT. Drusen are seen. (C) FAF and (D) ICGA. Arrows mark vessels. Arrowheads mark drusen.
A | Fundus. Arrows mark vessels. Arrowheads mark drusen.
B | OCT. Drusen are seen. Arrows mark vessels. Arrowheads mark drusen.
C | FAF. Arrows mark vessels. Arrowheads mark drusen.
D | ICGA. Arrows mark vessels. Arrowheads mark drusen.
? several panels in one sentence; sentences after the last panel's first

In young mice, (A) rods and (B) cones. Arrows mark nuclei.
A | In young mice, rods. Arrows mark nuclei.
B | In young mice, cones. Arrows mark nuclei.
? list inside a sentence

OCT of the right eye (A) with a hole, drusen and fluid, and of the left eye (B).
A | OCT of the right eye with a hole, drusen and fluid.
B | OCT of the left eye.
? identifier within its text; text between identifiers without a separator

Fundus photograph (A) showing drusen and hemorrhages, and OCT scan (B) of the left eye.
A | Fundus photograph showing drusen and hemorrhages.
B | OCT scan of the left eye.
? identifier within its text; text between identifiers without a separator; text after the last identifier of a sentence

Fundus photograph (A) showing drusen, hemorrhages and OCT scan (B) of the left eye.
A | Fundus photograph showing drusen, hemorrhages.
B | OCT scan of the left eye.
? identifier within its text; text between identifiers without a separator; text after the last identifier of a sentence

Fundus photograph (A) showing a red, swollen disc and angiography (B) of the left eye.
A | Fundus photograph showing a red, swollen disc.
B | Angiography of the left eye.
? identifier within its text; text between identifiers without a separator; text after the last identifier of a sentence

Fundus photograph (A) with hard, soft drusen, and angiography with leakage (B).
A | Fundus photograph with hard, soft drusen.
B | Angiography with leakage.
? identifier within its text; text between identifiers without a separator

Cones (A) with large nuclei, and rods and glia with small nuclei (B).
A | Cones with large nuclei.
B | Rods and glia with small nuclei.
? identifier within its text; text between identifiers without a separator

Scatter plot (A) (r = 0.12, p = 0.3) and box plot (B) of the thickness.
A | Scatter plot (r = 0.12, p = 0.3).
B | Box plot of the thickness.
? identifier within its text; text between identifiers without a separator; text after the last identifier of a sentence

Scatter plot (A) (n = 12) of thickness and box plot (B).
A | Scatter plot (n = 12) of thickness.
B | Box plot.
? identifier within its text; text between identifiers without a separator

Thickness (A) in microns (mean, SD) and volume (B) in mm.
A | Thickness in microns (mean, SD).
B | Volume in mm.
? identifier within its text; text between identifiers without a separator; text after the last identifier of a sentence

Choroid of two patients. Figure 3A, 3B and 3C are scans of the first patient at three visits. Figure 3 D-E are scans of the second patient.
A | Choroid of two patients. Figure 3A, 3B and 3C are scans of the first patient at three visits.
B | Choroid of two patients. Figure 3A, 3B and 3C are scans of the first patient at three visits.
C | Choroid of two patients. Figure 3A, 3B and 3C are scans of the first patient at three visits.
D | Choroid of two patients. Figure 3 D-E are scans of the second patient.
E | Choroid of two patients. Figure 3 D-E are scans of the second patient.
? no identifier stands alone; identifier in running text

Maps of the macula. Columns (1-2): right and left eyes. Row a: mean thickness, row b: mean flow. Row c: Standard deviation of both.
a | Maps of the macula. Columns (1-2): right and left eyes. Mean thickness.
b | Maps of the macula. Columns (1-2): right and left eyes. Mean flow.
c | Maps of the macula. Columns (1-2): right and left eyes. Standard deviation of both.
? several panels in one sentence

Sections of albino mouse corneas A: Epithelium of young animals is thick. B: Epithelium of old animals is thin.
A | Sections of albino mouse corneas. Epithelium of young animals is thick.
B | Sections of albino mouse corneas. Epithelium of old animals is thin.
?

On top: scan before filtering. On bottom: scan after filtering.
top | Scan before filtering.
bottom | Scan after filtering.
? panels named by position

The vein runs from the nasal (right) to the temporal edge (left) of the scan.
None | The vein runs from the nasal (right) to the temporal edge (left) of the scan.
? letters in brackets that form no series; words that may name panels

Radiograph of the orbit with the cranial (upper) and the caudal (lower) screw.
None | Radiograph of the orbit with the cranial (upper) and the caudal (lower) screw.
?

Angle in eyes with high pressure (A, 30 mmHg) and low pressure (B, 12 mmHg). The recess between cornea (C) and iris root (I) is open.
A | Angle in eyes with high pressure (30 mmHg). The recess between cornea (C) and iris root (I) is open.
B | Angle in eyes with low pressure (12 mmHg). The recess between cornea (C) and iris root (I) is open.
? several identifiers after their text in one sentence; no identifier stands alone; the next identifier stands in the text

Effect of the needle. A : The tip (T) stays above the cannula (C). B : The tip enters the space.
A | Effect of the needle. The tip (T) stays above the cannula (C).
B | Effect of the needle. The tip enters the space.
? the next identifier stands in the text

(A): Eight variants of the gene are known (A-F and S). Others came from databases (G-H). (B): Blot of the variants in the lens.
A | Eight variants of the gene are known (A-F and S). Others came from databases (G-H).
B | Blot of the variants in the lens.
?

Thinned corneas (A-B). Dense stroma (C). Round cells of the limbus were positive (D × 200).
A | Thinned corneas.
B | Thinned corneas.
C | Dense stroma.
D | Round cells of the limbus were positive (× 200).
?

Three donors. A, PKP leaves no host tissue. B, DSEK adds a thin layer of stroma. C, DMEK adds none. DMEK, Descemet membrane endothelial keratoplasty; DSEK, Descemet stripping endothelial keratoplasty; PKP, penetrating keratoplasty.
A | Three donors. PKP leaves no host tissue. DMEK, Descemet membrane endothelial keratoplasty; DSEK, Descemet stripping endothelial keratoplasty; PKP, penetrating keratoplasty.
B | Three donors. DSEK adds a thin layer of stroma. DMEK, Descemet membrane endothelial keratoplasty; DSEK, Descemet stripping endothelial keratoplasty; PKP, penetrating keratoplasty.
C | Three donors. DMEK adds none. DMEK, Descemet membrane endothelial keratoplasty; DSEK, Descemet stripping endothelial keratoplasty; PKP, penetrating keratoplasty.
? sentences after the last panel's first

More cones in old fish. Opsin was stained in the eyes of young fish (A) and old fish (B). Far more cones were seen in old fish. C: Cones per field. The number of cones grew after the second month. The increase follows the loss of rods.
A | More cones in old fish. Opsin was stained in the eyes of young fish. Far more cones were seen in old fish.
B | More cones in old fish. Opsin was stained in the eyes of old fish. Far more cones were seen in old fish.
C | More cones in old fish. Cones per field. The number of cones grew after the second month. The increase follows the loss of rods.
? several identifiers after their text in one sentence; a sentence without identifier between labelled ones; sentences after the last panel's first

Stroma of healthy (A) and thickened corneas (B–C). Wide bands lie under the epithelium (B, C). These were seen in all sections.
A | Stroma of healthy corneas.
B | Stroma of thickened corneas. Wide bands lie under the epithelium. These were seen in all sections.
C | Stroma of thickened corneas. Wide bands lie under the epithelium. These were seen in all sections.
? several identifiers after their text in one sentence; identifiers named again

(a) Flow and (b) structure B-scans show the slabs of the retina. Slabs lie (c) 40 µm, (d) 80 µm and (e) 120 µm below the surface.
a | Flow show the slabs of the retina.
b | Structure B-scans show the slabs of the retina.
c | Slabs lie 40 µm below the surface.
d | Slabs lie 80 µm below the surface.
e | Slabs lie 120 µm below the surface.
? several panels in one sentence; end shared by several panels; list inside a sentence

Tissue was taken from young wild-type (WT) fish eyes (A) and adult mutant fish eyes (B).
A | Tissue was taken from young wild-type (WT) fish eyes.
B | Tissue was taken from adult mutant fish eyes.
? several identifiers after their text in one sentence

Signals in the cell. (A) Mutants of the gene were studied in glia. N, nucleus; C, cytoplasm. Images are through the nuclei. (B) Rendering of the images.
A | Signals in the cell. Mutants of the gene were studied in glia. N, nucleus; C, cytoplasm. Images are through the nuclei.
B | Signals in the cell. Rendering of the images.
? the next identifier stands in the text

Vessels of the fundus. (a) First net. (b) Second net: steps of its making. (A) Edges. (B) Pairs. (C) Widths.
a | Vessels of the fundus. First net.
b | Vessels of the fundus. Second net: steps of its making. (A) Edges. (B) Pairs. (C) Widths.
? another series of identifiers; sentences after the last panel's first

Growth of vessels behind the retina A: A scan of the first week shows a bud. B: A scan of the third week shows a net.
A | Growth of vessels behind the retina. A scan of the first week shows a bud.
B | Growth of vessels behind the retina. A scan of the third week shows a net.
?

Fundus photograph (top) and OCT (bottom). The upper image shows drusen. The lower image shows fluid.
top | Fundus photograph. The upper image shows drusen.
bottom | OCT. The lower image shows fluid.
? several identifiers after their text in one sentence; identifiers named again; identifier in running text; panels named by position

The left-hand panel shows a scar, and the right-hand panel shows an OCT.
left | The left-hand panel shows a scar.
right | The right-hand panel shows an OCT.
? no identifier stands alone; identifier in running text; panels named by position

Left hand of a patient with a rash. Right hand of the same patient.
None | Left hand of a patient with a rash. Right hand of the same patient.
?

Where the scans of the choroid lie Figure 2A illustrates the two lines. In Figure 2B the choroid is outlined.
A | Where the scans of the choroid lie Figure 2A illustrates the two lines.
B | In Figure 2B the choroid is outlined.
? no identifier stands alone; identifier in running text

Atrophy was graded on a scale of five steps. The grade of this patient is 2 (right: 2, left: 3).
None | Atrophy was graded on a scale of five steps. The grade of this patient is 2 (right: 2, left: 3).
? words that may name panels

Loss of cells in the lens. A, Healthy lens. Its nuclei are in rows. B, Lens of a patient. Its nuclei are lost. Hematoxylin and eosin stain; from the same block.
A | Loss of cells in the lens. Healthy lens. Its nuclei are in rows. Hematoxylin and eosin stain; from the same block.
B | Loss of cells in the lens. Lens of a patient. Its nuclei are lost. Hematoxylin and eosin stain; from the same block.
? sentences after the last panel's first

Two smears. (a) Smear of the first eye. (b) Smear of the second eye. (Diff-Quik stain, ×400)
a | Two smears. Smear of the first eye.
b | Two smears. Smear of the second eye. (Diff-Quik stain, ×400)
? sentences after the last panel's first

Two stains of one lens. A, Healthy part. It is thin. Hematoxylin and eosin stain. B, Opaque part. It is thick. Masson stain.
A | Two stains of one lens. Healthy part. It is thin. Hematoxylin and eosin stain.
B | Two stains of one lens. Opaque part. It is thick. Masson stain.
? sentences after the last panel's first

Top row, left to right: fundus, scan, map. Bottom row, left to right: the same after a month.
top row | Left to right: fundus, scan, map.
bottom row | Left to right: the same after a month.
? panels named by position

Layers of one eye (A-1, B-1) and their maps (A-2, B-2). Blue is thin.
A1 | Layers of one eye. Blue is thin.
A2 | Layers of their maps. Blue is thin.
B1 | Layers of one eye. Blue is thin.
B2 | Layers of their maps. Blue is thin.
? several identifiers after their text in one sentence

(A-i) Early phase. (A-ii) Late phase. (B-i) Scan with T-1 cells. (B-ii) A-band.
Ai | Early phase.
Aii | Late phase.
Bi | Scan with T-1 cells.
Bii | A-band.
?

Scans of two eyes. (A-1–A-3) First eye. (B-1–B-3) Second eye.
A1 | Scans of two eyes. First eye.
A2 | Scans of two eyes. First eye.
A3 | Scans of two eyes. First eye.
B1 | Scans of two eyes. Second eye.
B2 | Scans of two eyes. Second eye.
B3 | Scans of two eyes. Second eye.
?

2A: Fundus of the right eye. 2B: Fundus of the left eye.
A | Fundus of the right eye.
B | Fundus of the left eye.
?

Skull of a bat. A, dorsal; and B, ventral views of the orbit. C, lateral view of the jaw.
A | Skull of a bat. Dorsal views of the orbit.
B | Skull of a bat. Ventral views of the orbit.
C | Skull of a bat. Lateral view of the jaw.
? several panels in one sentence; end shared by several panels

Wrist films showing (a) A fracture of the scaphoid (b) A dislocation.
a | Wrist films showing A fracture of the scaphoid.
b | Wrist films showing A dislocation.
? list inside a sentence

The plan of the theatre (a); the view of the table (b).
a | The plan of the theatre.
b | The view of the table.
? several identifiers after their text in one sentence

(A) Map of the cornea. (B–D) Biopsy: epithelium (B); stroma (C); endothelium (D).
A | Map of the cornea.
B | Biopsy: epithelium.
C | Biopsy: stroma.
D | Biopsy: endothelium.
? identifiers within a section

Skull in dorsal (A) and ventral (B) views. fm, foramen; or, orbit; vo, vomer.
A | Skull in dorsal views. fm, foramen; or, orbit; vo, vomer.
B | Skull in ventral views. fm, foramen; or, orbit; vo, vomer.
? identifier within its text; text after the last identifier of a sentence

(A) Scan at two ages. Scale bar, 50 µm. (B) Flat mount. Scale bars, 50 µm in A and 100 µm in B.
A | Scan at two ages. Scale bar, 50 µm. Scale bars, 50 µm in A and 100 µm in B.
B | Flat mount. Scale bars, 50 µm in A and 100 µm in B.
? sentences after the last panel's first

(A) Fish. (B–D) Sections of (B) the lens, (C) the retina and (D) the iris. Lens fibres of one eye are short. (E) Map.
A | Fish.
B | Sections of the lens. Lens fibres of one eye are short.
C | Sections of the retina. Lens fibres of one eye are short.
D | Sections of the iris. Lens fibres of one eye are short.
E | Map.
? several panels in one sentence; series of identifiers begins again

Retina at day 3. A—wild type; B—mutant (weak); C—mutant (strong).
A | Retina at day 3. Wild type.
B | Retina at day 3. Mutant (weak).
C | Retina at day 3. Mutant (strong).
? several panels in one sentence

Cells were kept with A: saline, B: drug or C: both for a day.
A | Cells were kept with saline for a day.
B | Cells were kept with drug for a day.
C | Cells were kept with both for a day.
? end shared by several panels; list inside a sentence

The sheath fully bent (left panel) and fully straight (right panel).
left | The sheath fully bent.
right | The sheath fully straight.
? several identifiers after their text in one sentence; panels named by position

Rod (A) and cone (B) of one mouse. (A) Seen at 20×. Bar, 5 µm. (B) Seen at 40×. Bar, 9 µm.
A | Rod of one mouse. Seen at 20×. Bar, 5 µm.
B | Cone of one mouse. Seen at 40×. Bar, 9 µm.
? identifier within its text; identifiers named again; text after the last identifier of a sentence; sentences after the last panel's first

(A) Rods are long. They are thin. (B) Cones are short. The scale bar in B is 9 µm.
A | Rods are long. They are thin.
B | Cones are short. The scale bar in B is 9 µm.
? sentences after the last panel's first
"""
"""Invented; one block per caption: the caption, one line per panel, "identifier | subcaption", and "?" with the reasons
for a lower confidence."""


@pytest.mark.parametrize("block", CAPTIONS.strip().split("\n\n"))
def test_captions(block: str) -> None:
    caption, *expected = block.split("\n")
    split = split_caption(caption)
    found = [f"{sub.identifier} | {sub.text}".rstrip() for sub in split.subcaptions]
    assert found == expected[:-1]
    assert set(split.reasons) == set(filter(None, expected[-1].removeprefix("?").strip().split("; ")))

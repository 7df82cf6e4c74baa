"""Answers of a model to a release's instructions: how many are right, beside baselines that need no model.

Method: OphIn-VQA (Dong et al., arXiv 2605.27916, section 5 and appendix C): an answer is shortened, compared with the
label, and judged in quarters; refusals count as wrong. Baselines and intervals are this software's: the paper reports
neither, and without them leaking questions look like skill. Add here: measures of answers. Keep out: how instructions
are made (`pipeline.instructions`), and the release's own counts (`release.instruction_numbers`).
"""

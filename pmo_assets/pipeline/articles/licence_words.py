"""Phrases of licence statements by meaning: names of the licences, harmless prose, and words that take a freedom away.

Data only; `licence_reading` compiles it. One phrase a line, in any case, with or without accents and punctuation.
`{a|b|}` stands for each of its alternatives, `<cc>` for a licence that is named before, "the Creative Commons licence"
included, `<cc0>` for the waiver. A word that stands nowhere here is unread, and a statement with an unread word is not
understood. So what belongs into `HARMLESS` is a word that can neither restrict nor negate nor add a licence wherever it
is put ("not", "only", "publisher's", "research", "from" are not such words); everything else comes with its phrase.

Sources: the deeds and legal codes at creativecommons.org/licenses in their languages, the licence paragraphs of the
publishers in PubMed Central, SciELO's publishing schema.
"""

from __future__ import annotations

from typing import Final

CREATIVE_COMMONS: Final = """
cc
creative commons
creative common
creativecommons
知识共享
创作共用
創用
クリエイティブ コモンズ
크리에이티브 커먼즈
"""

ATTRIBUTION: Final = """
attribution
attributions
{Namensnennung|Namensangabe}
{Paternité|Attribution}
{Atribución|Reconocimiento}
Atribuição
Attribuzione
Naamsvermelding
{署名|姓名标示|姓名標示}
表示
저작자표시
Uznanie autorstwa
{Атрибуция|С указанием авторства}
Atıf
"""
"""Behind "Creative Commons" these name the licence; elsewhere they are words."""

LICENCE_NOUNS: Final = """
{license|licenses|licence|licences|lisence}
{Lizenz|Lizenzen|Lizenzvertrag|Lizenzbedingungen}
{licencia|licencias}
{licença|licenças}
{licenza|licenze}
{licentie|licenties}
{许可协议|许可|许可证|授權條款|授权协议|協議|协议}
{ライセンス}
{라이선스}
{licencja|licencji}
{лицензия|лицензии|лицензией}
{lisans|lisansı}
"""
"""Harmless beside the name of a Creative Commons licence and behind "this"; elsewhere they may be another licence."""

LICENCE_FORMS: Final = """
{international|unported|generic|public|universal|waiver|deed|legalcode|legal code|version|ver|vers|v|weltweit}
{internationale|internationalen|Internacional|internazionale|internationaal|不受限制|国际|國際|国际版|本地化|国際|국제}
{public use license|user license|open access license}
{igo|us|usa|u s|uk|united states|united kingdom|england and wales|scotland|germany|deutschland|france|españa|spain}
{italy|italia|japan|korea|south korea|brazil|brasil|portugal|netherlands|nederland|austria|österreich|switzerland|schweiz}
{australia|new zealand|canada|china|mainland china|中国大陆|台灣|taiwan|india|poland|iran}
"""
"""Additions behind the name of a licence: version, port to a country's law."""

NON_COMMERCIAL: Final = """
nc
usage and distribution for commercial purposes {as well as any distribution of modified material|} requires written permission
{applicable to the online version of the article only|} distribution {is|} permitted for {non commercial|noncommercial} purposes only
the work cannot be changed in any way or used commercially without permission from the journal
the work cannot be used commercially without permission from the journal
contents may not be used for commercial purposes or adapted remixed transformed or built upon
{noncommercial|non commercial} uses of the work are permitted without any further permission from dove medical press {limited|ltd|} provided the work is properly attributed
for permission for commercial use of this work please see paragraphs 4.2 and 5 of our terms
{their|} new works must also acknowledge {you|the author|the creator} and be non commercial
{noncommercially|non commercially}
in any {non commercial|noncommercial} {medium|media|format}
{commercial|commercially|commercial use|commercial re use}
the use is educational and not for profit
readers may use this article as {long as|long as long as|} the work is properly cited the use is educational and not for profit and the work is not altered see
ist für die oben aufgeführten nicht kommerziellen Weiterverwendungen des Materials die Einwilligung des jeweiligen Rechteinhabers einzuholen
{comercial|comerciales|comercialmente|comerciais|commerciale|kommerziell|kommerzielle|kommerziellen}
{non commercial|noncommercial} {re use|reuse|distribution|}
{noncommercial|non commercial} {use|uses|use only|purposes|purposes only|license|}
{no|not} commercial {re use|reuse|use|uses|usage|exploitation|}
{commercial use|commercial re use|commercial reuse|commercial exploitation|commercial purposes} {is|are} {not permitted|not allowed|prohibited|excluded|forbidden}
{not|never} {be used|used|for use} {for|in} {any|} commercial {purpose|purposes|advantage|gain|use}
{is|are|may|must} not {be|} {used|reused|exploited|use} {for|} {any|} {commercial|commercially} {purpose|purposes|gain|}
{the use is|use is|its use is|the usage is|and is|and the use is|and use is} {noncommercial|non commercial|for non commercial purposes|not commercial}
{not for profit|non profit|nonprofit}
you may not use {this|the} {work|material|article|content} for commercial purposes
for commercial {re use|reuse|use|uses|purposes|reprints} {and translation rights|} {please|} {contact|email|e mail|visit|see}
{for|} permission for commercial {use|reuse|re use} {of this work|of this article|} {please|} {see|contact}
{for|} commercial {use|reuse|re use|entities} {of this work|of this article|of the article|} {requires|needs} {written|prior|prior written|} permission {from|of} {the|}
the written permission of cambridge university press must be obtained {for|prior to any|before any} commercial {re use|reuse|use} {or in order to create a derivative work|}
which does not permit commercial {exploitation|use|re use|reuse}
information for commercial entities is available online
{for|only for} {non commercial|noncommercial}
{nicht|nicht-} {kommerziell|kommerzielle|kommerziellen|kommerzieller|kommerzielles} {Nutzung|Nutzungen|Zwecke|Zwecken|}
{keine|ohne} {kommerzielle|kommerziellen|kommerzieller} {Nutzung|Nutzungen|Zwecke|Zwecken|Verwendung|}
{pas|sans} {d'|de|} {utilisation|usage|exploitation} commerciale
{à des|pour des|} fins non commerciales
{non commerciale|non commercial|pas commerciale|pas commercial}
{no|sin} {uso|usos|fines|} {comercial|comerciales}
{no|sin} {se permite|} {su|el|un|} uso comercial
{fines|uso|usos} no {comercial|comerciales}
{não|sem|sem fins|uso não|fins não|para fins não|desde que sem fins|sem uso} {comercial|comerciais}
{non|senza|usi non|uso non} {commerciale|commerciali|fini commerciali|uso commerciale}
{niet|geen} {commercieel|commerciële} {gebruik|}
{非商业性使用|非商业性|非商业|非商用|非商業性|非商業|非商业使用|不得用于商业|不得商用|禁止商用|禁止商业|严禁商用}
{非営利|営利目的|非商用}
{비영리|영리}
{użycie niekomercyjne|niekomercyjne}
{некоммерческое|некоммерческая|некоммерческого} {использование|использования|}
{gayriticari|ticari olmayan}
{lucro|lucratif|lucrativo|lucrativos|lucrative}
"""

NO_DERIVATIVES: Final = """
nd
usage and distribution for commercial purposes as well as any distribution of modified material requires written permission
the work cannot be changed in any way or used commercially without permission from the journal
contents may not be used for commercial purposes or adapted remixed transformed or built upon
as published without adaptation or alteration {without further permission provided the original work is attributed as specified on the sage and open access pages|}
readers may use this article as {long as|long as long as|} the work is properly cited the use is educational and not for profit and the work is not altered see
{no|non|not} {derivative|derivatives|derivs|deriv|derivation|derivations} {works|work|}
{no modifications|no modification|no adaptations|no changes|no alterations} {or|and|} {adaptations|modifications|alterations|changes|derivatives|} {are made|is made|have been made|are|were made|}
{is|are|be|has been} {not|never} {altered|modified|changed|transformed|adapted} {or|and|} {altered|modified|transformed|built upon|changed|} {in any way|in any form|}
{cannot|can not|may not|must not} {be|} {changed|altered|modified|adapted|transformed} {in any way|}
not {altered|modified|changed|transformed} {or|nor|,|} {altered|transformed|built upon|modified|}{ in any way|}
not altered transformed or built upon in any way
{unaltered|unmodified|unchanged|verbatim}
{passed along|} unchanged and in whole
you may not {alter|modify|adapt|distribute modified|share adapted} {transform|or transform|material|} {or build upon|} {this|the|} {work|}
you do not have permission under this {licence|license} to share adapted material derived from this {article|chapter|book|work} or parts of it
{the work|article|it} {is not|are not} {altered|modified}
derivative
derivatives
derivs
{keine|ohne} {Bearbeitung|Bearbeitungen|Veränderung|Veränderungen|Änderungen|abgeleiteten Werke|Ableitungen}
{nicht bearbeitet|nicht verändert|unverändert}
{pas|sans|aucune} {de|d'|} {modification|modifications|œuvre dérivée|oeuvre dérivée|travaux dérivés|œuvres dérivées|adaptation}
{sin|no} {obra|obras|} {derivada|derivadas|derivados|derivado|modificaciones}
{sem|não} {obra|obras|} {derivações|derivados|derivadas|derivado|modificações}
{non|senza|nessuna} {opera|opere|} {derivate|derivata|derivati|modifiche}
{geen|zonder} {afgeleide werken|bewerkingen|afgeleiden}
{禁止演绎|禁止演繹|禁止改作|不得演绎|不得修改|禁止修改|不可修改|禁止改编|禁止衍生}
{改変禁止|改変を禁止}
{변경금지|변경 금지}
bez utworów zależnych
без {производных|производных произведений}
türetilemez
"""

SHARE_ALIKE: Final = """
sa
{provided|} the same <cc> is included
{the|their|} new {creations|works} are licensed under {the|} identical terms
subject to the same <cc> {terms|}
adaptations are shared under the same {license|licence}
{sharealike|share alike|shared alike|sharing alike|share a like}
{same|identical} {terms|license|licence|licensing terms|conditions|}
{the same|identical} {creative commons|} {license|licence} {terms|as the original|}
{copyleft|reciprocal}
Weitergabe unter {gleichen|den gleichen|denselben} Bedingungen
unter {gleichen|den gleichen|denselben} {Bedingungen|Lizenzbedingungen}
partage {dans les|des|aux|selon les} {mêmes conditions|conditions initiales à l'identique|conditions identiques}
partage à l'identique
{compartir igual|compartir bajo la misma licencia|compartir con la misma licencia}
{compartilha|compartilhamento|partilha|compartilhar} {igual|pela mesma licença|nos mesmos termos|nos termos da mesma licença}
condividi allo stesso modo
{gelijk delen|gelijkdelen}
{相同方式共享|相同方式分享|以相同方式共享}
継承
{동일조건변경허락|동일조건 변경허락}
na tych samych warunkach
{на тех же условиях|с сохранением условий|распространение на тех же условиях}
aynı lisansla paylaş
"""

WAIVER: Final = """
cc zero
creative commons zero
"""

TEXT_MINING_PERMISSION: Final = """
this file is available for text mining it may also be used consistent with {the principles of fair use under the copyright law|fair use}
{this file is|} available for text mining
"""

HARMLESS: Final = """
{a|an|the|this|that|these|those|it|its|itself|he|she|they|their|them|you|your|we|our|one|ones}
{is|are|be|been|being|has|have}
{and|or|of|at|to|with|as|by|in|on|under|into|via|through|upon|which|who|whom|whose|there|here|where|hereby|herein}
{can|may|must|do|does|did|done|so|if|also|both|either|such|each|every|any|all}
{anyone|everyone|anybody|anywhere|anything|others|people|public|users|reader|readers}
{article|articles|work|works|paper|papers|manuscript|publication|publications|journal|journals|content|contents|material}
{materials|chapter|chapters|book|books|document|documents|preprint|preprints|contribution|item|note|notes|report|review}
{open|access|openaccess|oa|libre|gratis|free|freely|available|availability|accessible}
{distribute|distributes|distributed|distributing|distribution|distributions|redistribute|redistributed|redistribution}
{publish|published|publishes|publishing|released|issued|appears|appeared|licensed|licenced|licensing|sublicense|made|make|making|put|placed}
{permit|permits|permitted|permitting|allow|allows|allowed|allowing|enable|enables|let|lets|grant|grants|granted|entitled|give|gives|given|giving}
{use|uses|used|using|usage|utilize|utilized|reuse|reuses|reused|reusing|re use|re uses|re used|share|shares|shared|sharing}
{adapt|adapts|adapted|adapting|adaptation|adaptations|copy|copies|copied|copying|duplicate|reproduce|reproduced|reproduces|reproducing|reproduction|reproductions}
{transmit|transmitted|transmission|translate|translated|translation|translations|remix|remixed|remixing|transform|transforms|transformed|transformation|tweak|tweaked|tweaking}
{build|builds|built|building|builds upon|modify|modified|modification|modifications|create|creation|creations|display|perform|download|downloads|downloaded|search|crawl|index|link|links|linked|disseminate|disseminated|dissemination}
{unrestricted|unlimited|worldwide|irrevocable|perpetual|medium|media|mediums|format|formats|forum|forums|manner|purpose|purposes|form|forms|means|way|ways}
{provided|providing|provide|provides|long|properly|proper|correctly|correct|fully|appropriate|appropriately|appropiate|due|duly|adequate|adequately|accurately|clearly|clear|suitable|reasonable}
{original|originally|originals|author|authors|authorship|creator|creators|licensor|source|sources|citation|citations|cite|cited|citing|quoted|credit|credits|credited|crediting|acknowledge|acknowledged|acknowledgement|acknowledgment|attribute|attributed|attributing|mention|mentioned|reference|references|referenced|title|name|names|named}
{doi|url|uri|http|https|indicate|indicated|indicates|indicating|change|changes|changed|bibliographic|details|detail|information|notice|statement}
{copyright|copyrights|copyrighted|holder|holders|owner|owners|owned|own|ownership|retain|retains|retained|hold|holds|remain|remains|belongs}
{see|visit|view|please|more|further|full|for|summary|human|readable|complete|first|entire}
{publication|version|of record|originally published|international}
{et al|dr|prof|professor|mr|ms|mrs|eg|e g|i e|ie|vol|volume|issue}
{commons|licensee|licensees|licensor|licensors}
{der|die|das|den|dem|des|ein|eine|einer|eines|einem|einen|dieser|diese|dieses|diesem|diesen|ist|sind|wird|werden|wurde|wurden|und|oder|unter|von|vom|zu|zur|zum|im|auf|auch|welche|welcher|welches|sich|sie|bitte|bei|als|durch}
{Artikel|Artikels|Beitrag|Beitrags|Werk|Werkes|Werks|Inhalt|Inhalte|Arbeit|Publikation|Autor|Autoren|Autorin|Autors|Urheber|Quelle|Nennung|Zugang|freier|freie|frei|verfügbar|zugänglich|lizenziert|lizensiert|veröffentlicht|publiziert|bereitgestellt|verbreitet|steht|stehen|erschienen|gemäß|entsprechend}
{Nutzung|Verwendung|Vervielfältigung|Bearbeitung|Verbreitung|Wiedergabe|Weitergabe|Weiterverwendung|jeglichem|jeglicher|jedem|jeder|jede|Medium|Medien|Format|Formaten|erlaubt|gestattet|erlauben|ermöglicht|Zweck|Zwecke|Zwecken|beliebigen|uneingeschränkte|uneingeschränkt}
{ursprünglichen|ursprüngliche|ordnungsgemäß|nennen|genannt|genannten|zitiert|korrekt|angemessene|Urheberangaben|Link|beifügen|angeben|angegeben|ob|Änderungen|vorgenommen|siehe|Details|weitere|nähere|Informationen|finden|entnehmen|Lizenzinformation|Lizenztext}
{le|la|les|un|une|des|du|de|d|l|au|aux|et|ou|où|sous|selon|par|pour|dans|sur|est|sont|été|être|avec|ce|cet|cette|ces|qui|que|qu|tout|tous|toute|toutes|en|son|sa propre|ses}
{article|œuvre|oeuvre|contenu|auteur|auteurs|source|accès|ouvert|libre|librement|disponible|publié|publiée|distribué|distribuée|diffusé|diffusée|mis|mise|disposition}
{utilisation|reproduction|distribution|diffusion|partage|adaptation|permet|permettant|autorise|autorisant|illimitée|support|format|moyen|médium|original|originale|originaux|cité|citée|cités|correctement|dûment|crédité|crédités|mentionné|lien|vers|indiquer|modifications|effectuées|voir|plus|informations|détails}
{el|los|las|una|unos|unas|del|al|y|o|e|es|son|está|están|ha|sido|ser|bajo|con|por|para|este|esta|esto|estos|estas|que|se|su|sus|cual|cuales|cualquier|todo|todos|siempre|cuando|lo|sea|sean|compartir|copiar|adaptar}
{artículo|artículos|obra|obras|trabajo|contenido|revista|autor|autores|autoría|fuente|acceso|abierto|libre|disponible|publicado|publicada|publicados|distribuido|distribuida|distribuye|licenciado|licenciada|encuentra|sujeto a la licencia}
{uso|distribución|reproducción|difusión|adaptación|utilización|irrestricto|irrestricta|ilimitado|ilimitada|permite|permiten|permitido|permitida|medio|formato|original|originales|citado|citada|cite|citen|cita|reconozca|debidamente|adecuadamente|correctamente|propósito|finalidad|crédito|enlace|indique|indicar|cambios|realizado|ver|más|información|detalles}
{o|a|os|as|um|uma|uns|umas|do|da|dos|das|na|em|ao|à|e|ou|é|são|está|foi|sob|com|por|pela|pelo|para|esta|este|estes|que|se|seu|sua|qualquer|todos|desde|seja|sejam|conforme|bem como}
{artigo|artigos|obra|trabalho|conteúdo|revista|autor|autores|autoria|fonte|acesso|aberto|livre|disponível|publicado|publicada|distribuído|distribuída|licenciado|licenciada|protegido|periódico}
{distribuição|reprodução|adaptação|utilização|irrestrito|irrestrita|ilimitado|permite|permitem|permitido|meio|meios|mídia|formato|original|originais|citado|citada|citados|corretamente|adequadamente|devidamente|devida|crédito|créditos|finalidade|link|indicar|mudanças|feitas|ver|mais|informações|detalhes}
{il|lo|gli|i|uno|della|dello|dei|delle|degli|dal|dalla|nel|nella|ed|è|sono|sotto|con|secondo|questo|questa|quest|che|si|suo|sua|qualsiasi}
{articolo|opera|lavoro|contenuto|autore|autori|fonte|accesso|aperto|libero|disponibile|pubblicato|distribuito|rilasciato|concesso|licenziato|utilizzo|distribuzione|riproduzione|consente|permette|qualunque|mezzo|formato|originale|citato|citata|correttamente|purché}
{de|het|een|dit|deze|dat|is|zijn|wordt|werd|onder|van|met|en|of|voor|in|op|artikel|werk|inhoud|auteur|auteurs|bron|open|toegang|vrij|beschikbaar|gepubliceerd|gelicentieerd|gelicenseerd|verspreid|gebruik|verspreiding|reproductie|mits|toestaat}
{本文|文章|论文|进行许可|本作品|作品|本刊|期刊|开放获取|开放存取|开放|获取|遵循|采用|依据|根据|基于|按照|使用|发布|发表|出版|授权|进行|分发|许可|原作者|作者|来源|允许|任何|媒介|格式|传播|复制|改编|引用|注明|出处|适当|标明|署名|的|在|下|是|和|与|及|并|之|以|为|由|本|可|可以|一|篇|前提|网址|链接|协议|国际|版本|的文章}
{本文章|論文|開放|獲取|採用|依據|發布|發表|作者|來源|允許|任何|複製|引用|適當|標明|網址}
{この|本|論文|記事|作品|著作物|は|の|に|を|が|と|で|により|下|提供|公開|されて|います|いる|ています|基づき|ライセンスの下|国際|オープンアクセス|オープン|アクセス|著者|出典}
{이|이 논문은|논문|저작물은|따라|이용할 수 있습니다|이용|조건|하에|공개}
"""
# fmt: off
"""Words that restrict nothing, negate nothing and add no licence wherever they stand, by language: EN, DE, FR, ES, PT, IT,
NL, ZH, JA, KO."""
# fmt: on

UNDERSTOOD: Final = """
版权归{作者|原作者}所有
{is|are|freely|made|} available {freely|} online
{the|} online version of this {article|work|paper}
{遵循|依据|根据|按照|采用|基于} {本|该|} <cc> {条款|条件|的条款|许可条款|许可|}
for reprints and translation rights for reprints
all other permissions can be obtained through our {RightsLink|rightslink} service via the permissions link on the article page on our site
for further information please contact
applicable to the online version of the article only
where it is permissible to download {and share|share remix transform and buildup} the work provided it is properly cited
usage derivative works and distribution are permitted provided
{the|} original publisher
indication of whether changes were made
the terms on which this article has been published allow the posting of the accepted manuscript in a repository by the {author|authors} or with their consent
permits the broadest form of re use including for commercial purposes provided that author attribution and integrity are maintained
see for full terms and conditions
{license|licence} information
<cc> applies to author choice articles
research note
{under|by|to|with|in accordance with|in accordance to|in accord with|according to|in compliance with|following|within|subject to|through|} {the|} {full|} {terms|term|terms and conditions|terms and the conditions|condition|conditions|provisions} {of|from} {the|a|an|this|its|our|} <cc>
under {the terms of|} {the|a|an|} <cc> {terms|terms and conditions|conditions|}
<cc> {terms|terms and conditions|conditions|attribution terms}
{under|is under} {the|a} <cc>
{complies|comply|compliance|in compliance|accordance|accord|accords} with {the|this|} {terms of|} <cc>
{governed|covered|protected|regulated} by {the|a|an|} {terms of|} <cc>
{is|are} {published|distributed|made available} {within an|in an} open access environment subject to the conditions of {the|} <cc>
{this|the|that|said|such|above} {license|licence}
{the|this} {terms|conditions|full terms} of {this|the|said} {license|licence}
the full terms of this {license|licence} are available at {and incorporate|} {the|} {<cc>|}
and incorporate {the|} <cc>
by accessing the work you hereby accept the terms
permissions beyond the scope of the license are administered by dove medical press {limited|ltd}
without further permission provided the original work is attributed as specified on the sage and open access {pages|page}
without further permission provided the original work is attributed {as specified|}
without {further|any further|additional} permission {from the publisher|from the authors|from the author|from the copyright holder|of the publisher|} provided
without asking prior permission from the publisher or the author
{the use|use} distribution {or|and} reproduction in other forums is permitted provided
in other forums {is permitted|} {provided|}
in accordance with accepted academic practice
no use distribution or reproduction is permitted which does not comply with these terms
subject to any copyright notices concerning any third party graphics {etc|}
{the|} {images|image} or other third party {material|materials} in this {article|chapter|book|work} are included in the {article|articles|chapter|chapters|book|books|work} {creative commons|} {license|licence} unless indicated otherwise in {a|the} credit line {to the material|}
{the|} {images|image} or other third party {material|materials} in this {article|chapter|book|work} are included in the {article|articles|chapter|chapters|book|books|work} <cc> unless indicated otherwise in {a|the} credit line {to the material|}
if {material|the material} is not included {in|under} the {article|articles|chapter|chapters|book|books|work} {creative commons|} {license|licence} and your intended use is not permitted by statutory regulation or exceeds the permitted use you will need to obtain permission directly from the copyright holder
if {material|the material} is not included {in|under} the {article|articles|chapter|chapters|book|books|work} <cc> and your intended use is not permitted by statutory regulation or exceeds the permitted use {you|users} will need to obtain permission {directly|} from the {copyright|license|licence} holder {to reproduce the material|}
if the material is not included under the <cc> users will need to obtain permission from the license holder to reproduce the material
unless indicated otherwise in the credit line {to the material|}
users will need to obtain permission from the {license|licence} holder to reproduce the material
{to view|for} a copy of {this|the} {license|licence} {please|} {visit|see|go to}
{to view|view} a copy of <cc> {please|} {visit|see|go to}
free of all copyright and may be freely reproduced distributed transmitted modified built upon or otherwise used by anyone for any lawful purpose
for any lawful purpose
{for|} any purpose {even commercially|including commercial|including commercial use|including commercial purposes|even commercial}
{for|in} both {commercial and non commercial|commercial and noncommercial|non commercial and commercial|commercial and educational} {purposes|use|uses|}
{commercial and non commercial|commercial and noncommercial|commercial or noncommercial|commercial or non commercial|non commercial and commercial|commercial as well as non commercial} {purposes|use|uses|}
{including|inclusive of} {for|} commercial {purposes|use|uses|re use|reuse}
for commercial use provided the original work is properly cited
{including for|for} commercial {and|or} {noncommercial|non commercial} {purposes|use|uses}
even commercially
{even|including} for commercial {purposes|use|uses}
even in commercial contexts
derivative works {even commercially|for any purpose even commercially}
{create|creation of|creating|make|making|prepare|develop|produce|distribute|distribution of|and distribute|to create|publish|production of} {and distribute|} {derivative works|derivatives|adaptations and derivative works|extracts abstracts and other revised versions adaptations or derivative works}
and license their {derivative works|derivatives|adaptations} on different terms
they {do not|don't} have to license their derivative works on the same terms
{reproduced|disseminated|reproduced or disseminated} not in its entirety but only in part or as a derivative work this must be clearly indicated
if an article is subsequently reproduced or disseminated not in its entirety but only in part or as a derivative work this must be clearly indicated
the original authorship is properly and fully attributed
are attributed as the original place of publication with the {correct|correction} citation details given
is otherwise in compliance with the {license|licence}
{and|} is otherwise in compliance with <cc>
but not in any way that suggests that {they endorse|the licensor endorses|they endorses} you or your use {of the work|}
not in any way that suggests {the licensor endorses you or your use|endorsement}
in any digital medium
in all media
any of the above conditions can be waived if you get permission from the copyright holder
nothing in this license impairs or restricts the author's moral rights
for any reuse or distribution you must make clear to others the license terms of this work {which can be found at|}
you are free to
under the following {conditions|terms}
you must attribute the work in the manner specified by the author or licensor
{if|when} changes were made
{if|whether|and if|and whether} {any|} {changes|modifications} {were|are|have been} made
indicate {if|whether|any} changes {were made|have been made|}
any changes made {are|must be} indicated
{a|the|any|} {link to|links to} {the|this|} {license|licence} {is|are|} {provided|given|included|}
{provide|include|with|plus|and|} {a|the|} link to {the|} {creative commons|} {license|licence}
this notice is preserved along with the article's original url
{this|the} {copyright|license|licence} and {license|licence|copyright} {information|notice} must be included
the complete bibliographic information a link to the original publication on as well as this copyright and license information must be included
the complete bibliographic information a link to the original publication {on|at|} {as well as this copyright and license information must be included|}
as well as this copyright and license information must be included
{further|any further} distribution of this work must maintain attribution to {the author|the authors|the author s} and the title of the work journal citation and doi
original content from this work may be used under the terms of {the|} <cc>
maintain attribution to
either doi or url of the article must be cited
as long as
as well as
{in any way|in any form or by any means|in any form|by any means}
{correspondence|e mail|email|tel|fax|check for updates|crossmark}
{springer nature|springer science business media|springer} remains neutral with regard to jurisdictional claims in published maps and institutional affiliations
peer review under responsibility of
{peer review|peer reviewed} under the responsibility of
{see rights and permissions|see rights and permissions published by}
{reprints and permissions|permissions and reprints}
{re use|reuse} permitted under <cc>
{re use|reuse} of this article is permitted in accordance with {the|} <cc>
published by {bmj|bmj group|bmj publishing group ltd|the bmj} {on behalf of|}
under {exclusive|an exclusive} {license|licence} to {bmj|bmj publishing group}
{the author|the authors} {retains|retain} {copyright|the copyright|copyright of their work|ownership of the copyright} {for their content|and grant|}
copyright remains with the {author|authors}
who has granted {bioRxiv|medRxiv} a {license|licence} to display the preprint in perpetuity
the copyright holder for this preprint {which was not certified by peer review|} is the author {funder|}
which was not certified by peer review
it is made available under {a|an} <cc>
{access|open access} {funding|publication funding} {provided|enabled and organized} by
open access funding {enabled and organized by projekt deal|provided by}
{this is|} an open access article
{these|} licenses permit
full {terms|terms of the licence} {of the license|} {are|} available at
{users are|readers are|user is} {allowed to|entitled to|free to}
with the understanding that
{the author is|the authors are|the author is are|the author s is are} {an|} {employee|employees} of the {us|u s} government and therefore domestic copyright protection in usa does not apply to this work
may be protected under the copyright laws of other jurisdictions when used in those jurisdictions
the moral rights of the named author have been asserted
creative commons attribution non commercial license applies to author choice articles
author's choice {final version full access|}
nih funded research final version full access
this paper is available online free of all access charges see for further details
free of all access charges
for further details
for details please refer to
please refer to
{for attribution|} the original author s title publication source and either doi or url of the article must be cited
the {views|opinions} expressed
{welche die Nutzung Vervielfältigung Bearbeitung Verbreitung und Wiedergabe in jeglichem Medium und Format erlaubt|} sofern Sie den {/die|die|} ursprünglichen {Autor en|Autoren|Autor} und die Quelle ordnungsgemäß nennen
sofern Sie {den|die|den die} ursprünglichen
{sofern|solange} {der|die|das} {Autor|Autoren|Urheber|Quelle|Originalwerk|Werk} {und die Quelle|}
{einen|ein} Link zur <cc> beifügen
die in diesem {Artikel|Buch|Kapitel|Werk} enthaltenen Bilder und sonstiges Drittmaterial unterliegen ebenfalls der genannten <cc> sofern sich aus der Abbildungslegende nichts anderes ergibt
sofern das betreffende Material nicht unter der genannten <cc> steht und die betreffende Handlung nicht nach gesetzlichen Vorschriften erlaubt ist ist für die oben aufgeführten Weiterverwendungen des Materials die Einwilligung des jeweiligen Rechteinhabers einzuholen
weitere Details zur Lizenz entnehmen Sie bitte der Lizenzinformation auf
{unter der|unter einer|unter den Bedingungen der|gemäß der|gemäß den Bedingungen der|nach den Bedingungen der} <cc>
{siehe|Lizenzinformation auf|Details zur|zur} Lizenz
{diese|dieser|der|eine|einer} {Lizenz}
{sous|selon|aux|conformément aux} {les|} {termes|conditions} de la {licence|} <cc>
{sous|la|une|cette|de la|selon la} licence {internationale|} {<cc>|}
sous <cc>
à condition {que|de} {citer|mentionner|} {l'auteur|les auteurs|l'œuvre originale|} {et la source|}
sans restriction {à condition que|à condition de|pourvu que|} {l'œuvre originale soit correctement citée|}
{qui permet|permettant} l'utilisation {la distribution et la reproduction|} sans restriction
{sur|dans} {tout|n'importe quel} {support|format} {ou format|}
{bajo|según|conforme a} {los términos de|las condiciones de|} {la|una} {licencia|} {internacional|} {de|} <cc>
{bajo|la|una|esta|dicha} licencia {internacional|} {de|} {<cc>|}
bajo {una|la|los términos de la|} <cc>
sin restricciones {siempre que|siempre y cuando|} {la obra original sea citada|el trabajo original sea|}
sin restricción {alguna|}
siempre {que|y cuando} {se cite|sea citado|sea citada|el trabajo original|la obra original|}
{sob|segundo|nos} {os|} {termos|condições|} {da|de uma|uma|a} {licença|} <cc>
nos termos da licença
{sob|a|uma|esta|da} licença {internacional|} {<cc>|}
sob {uma|a|} <cc>
sem restrições desde que o trabalho original seja {corretamente|devidamente|} citado
sem restrições {desde que|}
em qualquer {meio|mídia}
com {uma|a} <cc>
{con|sotto|secondo} {i termini della|} {licenza|} <cc>
{questa|la|una|con|sotto} licenza {<cc>|}
{onder|volgens} {een|de} {voorwaarden van de|} <cc>
{onder een|de|deze} licentie
{本许可协议|本协议}
{this|the|a|an|as} <cc>
<cc>
"""
"""Sentences understood as a whole although their words are not harmless: they explain the licence and its exceptions.

The sentences about third parties' material, about data under CC0 and about rights of the U.S. Government take nothing
from the article's licence; figures with rights of their own are judged where figures are.
"""

ASIDE: Final = """
<cc0> for {the|all|} data
{the|} <cc0> applies to {the|} data {made available|included|presented|associated with this article|} {in this article|in this chapter|with this article|} {unless otherwise stated|unless otherwise noted|} {in a credit line to the data|}
"""
"""Phrases that name the licence of something else than the article."""

NAMES: Final = """
{BioMed Central|BioMed Central Ltd|biomed central|springer|springer nature|springer verlag|springer international publishing|springer science business media}
{elsevier|elsevier inc|elsevier ltd|elsevier b v|elsevier bv|elsevier gmbh|cell press|wiley|john wiley and sons|wiley periodicals|wiley vch|blackwell}
{mdpi|mdpi ag|basel|switzerland|frontiers|frontiers media|hindawi|hindawi publishing corporation|dove medical press|dove medical press limited|oxford university press}
{cambridge university press|bmj|bmj publishing group|karger|s karger ag|s karger|plos|public library of science|PeerJ|peerj|eLife|elife|jmir|jmir publications|jmir publications inc|taylor and francis|informa uk}
{sage|sage publications|wolters kluwer|lippincott williams and wilkins|nature|nature publishing group|macmillan publishers|macmillan publishers limited|thieme|georg thieme verlag|de gruyter|iop publishing|royal society|medknow|cureus|f1000|f1000research|bioRxiv|medRxiv|arvo}
{the association for research in vision and ophthalmology|american academy of ophthalmology|pagepress|bentham open|bentham science|spandidos|aging|ivyspring|landes bioscience|termedia|scielo}
{hogrefe|copernicus|copernicus publications|pensoft|ubiquity press|iucr|international union of crystallography|american society for microbiology|acs|american chemical society|rsc|royal society of chemistry}
"""
"""Publishers and societies, harmless where a statement names who published."""

NAMING: Final = """
{copyright|copyrights}
{published by|published in|published online by|publisher|production and hosting by|hosting by|production by|publishing services by|distributed by|issued by}
{on behalf of|licensee|owned by|held by|journal compilation|journal of|first published in|originally published in|under the responsibility of|responsibility of}
{published|is published} under {license|licence} to
{author|authors|the author|the authors} or their {employer|employers}
{provided by|enabled and organized by|supported by|created by|posted by}
"""
"""Phrases that announce names of holders, publishers, journals. Only behind these a capitalised word may be unknown."""

IN_NAMES: Final = """
{research|academic|education|scientific|science|data|part|limited}
"""
"""Suspicious words that stand in names of journals and publishers."""

PARTICLES: Final = """
{srl|s r l|inc|ltd|co|gmbh|llc|plc|of|and|the|for|in|on|de|der|den|del|della|di|da|do|dos|das|du|la|le|les|van|von|vom|zu|ter|ten|te|al|el|et|y|e|i|ibn|bin|und|ag|a|au|en|on behalf of|s}
"""
"""Words in small letters inside names."""

SUSPICIOUS: Final = """
not no non none nor never neither nothing without cannot cant dont doesnt isnt arent wont un nein nope
except* excepting exclud* exclusiv* only solely unless until till but however otherwise other instead rather than versus
former* previous* expired revok* withdrawn supersed* replac* contrary opposed anti void invalid
nicht* kein keine keiner keinem keinen keinerlei ohne nur ausser ausgenommen ausschlie* sondern statt anstatt anstelle nie
niemals weder noch jedoch aber
ne pas sans sauf ni jamais aucun* hors hormis excepte* uniquement seulement exclusivement mais plutot lieu nullement
sin nunca jamas ningun* salvo excepto solo solamente unicamente sino tampoco pero menos lugar
nao sem nem nenhum* exceto somente apenas mas
senza mai nessun* tranne eccetto soltanto ma
niet geen zonder nooit alleen behalve tenzij uitsluitend maar slechts bez tylko не нет без кроме только нельзя
zabron* zakazan* yasak* forbud* forbjud* kiellet* tilos interzis* nelze nesmi
prohibit* prohibid* prohibe* proib* forbid* disallow* deny denied denies ban bans banned bar barred restrict* restring* restri*
limit limits limited limiting limita* reserv* riserv* voorbeh* vorbehalt*
subject permission* permiso permissao permesso consent* authoriz* authoris* autoriz* autoris* genehmig* erlaubnis einwilligung
zustimmung toestemming approv* prior written request* contact fee fees pay paid payment charge* subscri* purchase*
rights recht rechte rechten droit droits derecho derechos direito direitos diritti proprietary confidential embargo* pending
verbot* untersagt* unzulassig* interdi* defense vedad* vetad* vietat* verboden zakaz* запрещ*
personal private privat* prive privad* academic educational education teaching research scientific internal evaluation members
noncommer* nonprofit* commerc* commer* kommer* comerc* komer* profit* lucr* gewerb*
deriv* noderiv* unaltered unmodified unchanged verbatim altered alteration* alike sharealike* identical same copyleft
gpl* lgpl* agpl* gfdl* gnu odbl odc mit apache bsd mpl ofl ogl unlicense licenc* licens* lizenz* licenz* user terms conditions
bedingung* tdm mining part parts partly some partial figures images text data tables
"""
"""Words (with `*`: beginnings of words) that restrict, negate, or add a licence.

They need not be complete, because what is not understood is refused without them. They are never a name, and where the
source's own metadata state the licence, they are what an article's statement contradicts it with.
"""

SUSPICIOUS_SIGNS: Final = "不非未无無勿禁仅僅只除限须須需严嚴"
"""The same of Chinese and Japanese, by sign."""

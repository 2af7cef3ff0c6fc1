#!/usr/bin/env python3
"""Writes crates/phi-detect/src/words/given.txt from a list of given names.

Input: one name a line, such as the 1990 US census list of given names (public
domain). Left out are names of fewer than three letters and names that are more
often plain English words, months, places or clinical words; those count as names
only where a title or a label says so.

    python3 model/given_names.py CENSUS_FIRST_NAMES.txt > crates/phi-detect/src/words/given.txt
"""

import sys

# One word per entry: these are read as words, not names, unless something else says "name".
ALSO_WORDS = set("""
    ai aide al allegra alpha america an angle art asa august aura bee blair bo brain buck bud buddy buena
    candida candy carina carry cary chance cherry chin china conception coral crystal delta desire dia
    dimple don dot drew earl early echo ed eddy else ethyl eve faith fe flora france georgia german ginger
    golden grace grant ha harmony heath herb honey hong hope hyo ima in india iris jo joy june junior
    justice kit lacy lady lan lang laurel le lean len les liberty long lou love lue ma mac mae major man
    manual many margarita marin mark max may mel melody mercy merry mi miles min mina miss mission my na
    nan neon nu numbers ok olive omega or orange pa page paris pat patience pearl peg penny perla piper
    princess prince queen raven ray rea reed rich rob rock rod roman rose royal ruby rusty sage sal sandy
    santa season see shin so son soon spring star sterling su summer sun sunday sunny sunshine ta temple
    terra thu tia tiny tran trinity tu un una van vena vera vi victory violet virgin ward will windy
    winter wm woody worth young clay cliff dale dean forest gene glen guy hank hunter lance lane lily
    mason norm parker peace porter rain ridge rim skip sky stone tanner taylor trent wade wells west
    ivory ivy jade jewel jasmine hazel basil cinnamon cedar amber ash brook brooks destiny dusty fern
    fidel fleet gala garnet gay genesis gin haven joe jean jan mandy era ester estrogen lupe mika misty
    myrtle nova ocean opal person precious rue salome season shade shot sherry sid sierra silva skye
    snow sol storm sue tai tad thanh tera tomato toy trey treasure tula usa vada val velvet venus vita
    wan wendi yen zoster zora virginia carolina dakota houston dallas austin florence israel jordan
    kenya asia angeles boston chester cleveland columbus denver devon lincoln london madison orlando
    phoenix preston savannah sydney victoria vienna warren washington wilmington milan geneva lourdes
    monday tuesday wednesday thursday friday saturday january february march april july september
    october november december rocky maple stanford christian ana alta santiago argentina whitney
""".split())


def main():
    with open(sys.argv[1], encoding="utf-8") as lines:
        names = {line.strip().lower() for line in lines}
    kept = sorted(n for n in names if len(n) > 2 and n.isascii() and n.isalpha() and n not in ALSO_WORDS)
    sys.stdout.write("\n".join(kept) + "\n")


if __name__ == "__main__":
    main()

"""The charsets that a page may name, and no others.

A page that could name any codec of Python could name one that takes quadratic time, one that
unpacks, or one that makes characters which nothing can store. These are the labels of the WHATWG
Encoding Standard that Python has as plain text; all else is read as UTF-8.
"""

import re

FALLBACK = "utf-8"
NO_LETTERS = re.compile(r"[^a-z0-9]+")
LABEL_CHARACTERS = 40

LABELS = {
    "cp866": "ibm866 cp866 866 csibm866",
    "iso8859_2": "latin2 l2 iso88592 isoir101 csisolatin2",
    "iso8859_3": "latin3 l3 iso88593 isoir109 csisolatin3",
    "iso8859_4": "latin4 l4 iso88594 isoir110 csisolatin4",
    "iso8859_5": "cyrillic iso88595 isoir144 csisolatincyrillic",
    "iso8859_6": "arabic ecma114 asmo708 iso88596 iso88596e iso88596i isoir127 csisolatinarabic",
    "iso8859_7": "greek greek8 ecma118 elot928 suneugreek iso88597 isoir126 csisolatingreek",
    "iso8859_8": "hebrew visual logical iso88598 iso88598e iso88598i isoir138 csisolatinhebrew",
    "iso8859_10": "latin6 l6 iso885910 isoir157 csisolatin6",
    "iso8859_13": "iso885913",
    "iso8859_14": "iso885914",
    "iso8859_15": "latin9 l9 iso885915 csisolatin9",
    "iso8859_16": "iso885916",
    "koi8_r": "koi koi8 koi8r cskoi8r",
    "koi8_u": "koi8u koi8ru",
    "mac_roman": "macintosh mac xmacroman csmacintosh",
    "mac_cyrillic": "xmaccyrillic xmacukrainian",
    "cp874": "windows874 dos874 tis620 iso885911",
    "cp1250": "windows1250 cp1250 xcp1250",
    "cp1251": "windows1251 cp1251 xcp1251",
    # The standard says so: what calls itself ASCII or Latin-1 is in truth this one.
    "cp1252": "windows1252 cp1252 xcp1252 ascii usascii ansix341968 latin1 l1 iso88591 isoir100 "
    "ibm819 cp819 csisolatin1",
    "cp1253": "windows1253 cp1253 xcp1253",
    "cp1254": "windows1254 cp1254 xcp1254 latin5 l5 iso88599 isoir148 csisolatin5",
    "cp1255": "windows1255 cp1255 xcp1255",
    "cp1256": "windows1256 cp1256 xcp1256",
    "cp1257": "windows1257 cp1257 xcp1257",
    "cp1258": "windows1258 cp1258 xcp1258",
    "gbk": "gbk xgbk gb2312 gb231280 chinese isoir58 csgb2312 csiso58gb231280",
    "gb18030": "gb18030",
    "big5hkscs": "big5 big5hkscs cnbig5 xxbig5 csbig5",
    "euc_jp": "eucjp xeucjp cseucpkdfmtjapanese",
    "iso2022_jp": "iso2022jp csiso2022jp",
    "cp932": "shiftjis sjis xsjis mskanji ms932 windows31j csshiftjis",
    "cp949": "euckr cseuckr korean ksc5601 ksc56011987 ksc56011989 isoir149 windows949",
    "utf_16": "utf16 unicode ucs2 csunicode iso10646ucs2",
    "utf_16_be": "utf16be unicodefffe",
    "utf_16_le": "utf16le unicodefeff",
    FALLBACK: "utf8 unicode11utf8 unicode20utf8 xunicode20utf8",
}
"""A codec of Python, and the labels that mean it, in small letters and digits only."""

CODECS = {label: codec for codec, labels in LABELS.items() for label in labels.split()}


def codec_for(label: str) -> str:
    """The name of the codec to decode with; UTF-8 if the label is unknown or none was given."""
    return CODECS.get(NO_LETTERS.sub("", label[:LABEL_CHARACTERS].lower()), FALLBACK)

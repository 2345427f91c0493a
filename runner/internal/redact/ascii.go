package redact

import (
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// appendASCII writes a character as JSON without anything but ASCII has it.
func appendASCII(b *strings.Builder, r rune) {
	if r < utf8.RuneSelf {
		b.WriteRune(r)
		return
	}
	if high, low := utf16.EncodeRune(r); high != utf8.RuneError {
		fmt.Fprintf(b, `\u%04x\u%04x`, high, low)
		return
	}
	fmt.Fprintf(b, `\u%04x`, r)
}

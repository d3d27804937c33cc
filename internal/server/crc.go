package server

import "hash/crc32"

// A CRC-32 is the remainder of a message, seen as a polynomial over GF(2),
// modulo a fixed one. Appending n bytes multiplies the polynomial by x^(8n), so
// the CRC of a concatenation follows from those of its parts and the remainder
// of that power. Polynomials are written with x^0 in the highest bit.

// crcShift returns the remainder of x^(8n), which crcJoin needs for a second
// part of n bytes.
func crcShift(n int) uint32 {
	shift := uint32(1) << 31  // 1
	square := uint32(1) << 23 // x^8
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			shift = multiply(shift, square)
		}
		square = multiply(square, square)
	}
	return shift
}

// crcJoin returns the CRC of two parts from theirs and the second one's shift.
func crcJoin(first, second, shift uint32) uint32 {
	return multiply(first, shift) ^ second
}

// multiply returns the remainder of a·b.
func multiply(a, b uint32) uint32 {
	var product uint32
	for bit := uint32(1) << 31; bit != 0; bit >>= 1 {
		if a&bit != 0 {
			product ^= b
		}
		carry := b & 1
		b >>= 1
		if carry != 0 {
			b ^= crc32.IEEE
		}
	}
	return product
}

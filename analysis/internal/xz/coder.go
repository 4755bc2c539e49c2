package xz

// A coder is the range coder: it reads bits by their probabilities.
type coder struct {
	in           []byte
	length, code uint32
	failed       bool
}

// fit takes in a byte where the range has become small.
func (c *coder) fit() {
	if c.length >= 1<<24 {
		return
	}
	c.length <<= 8
	c.code <<= 8
	if len(c.in) == 0 {
		c.failed = true
		return
	}
	c.code |= uint32(c.in[0])
	c.in = c.in[1:]
}

// bit reads a bit, and learns how likely it is.
func (c *coder) bit(p *probability) uint32 {
	c.fit()
	bound := c.length >> probabilityBits * uint32(*p)
	if c.code < bound {
		c.length = bound
		*p += (1<<probabilityBits - *p) >> moveBits
		return 0
	}
	c.length -= bound
	c.code -= bound
	*p -= *p >> moveBits
	return 1
}

// direct reads bits of which nothing is expected.
func (c *coder) direct(n uint32) uint32 {
	v := uint32(0)
	for range n {
		c.fit()
		c.length >>= 1
		v <<= 1
		if c.code >= c.length {
			c.code -= c.length
			v |= 1
		}
	}
	return v
}

// tree reads a number of as many bits as the list has places for, the highest first.
func (c *coder) tree(list []probability) uint32 {
	m, n := uint32(1), uint32(len(list))
	for m < n {
		m = m<<1 | c.bit(&list[m])
	}
	return m - n
}

// reverse reads a number of n bits, the lowest first.
func (c *coder) reverse(list []probability, n uint32) uint32 {
	m, v := uint32(1), uint32(0)
	for i := range n {
		b := c.bit(&list[m])
		m = m<<1 | b
		v |= b << i
	}
	return v
}

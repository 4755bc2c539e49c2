package provider

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A Provider writes events. Several goroutines may use it.
type Provider struct {
	desc     etw.ProviderDesc
	classic  bool
	traits   []byte
	channels []uint8
	control  func(*Provider, Control)
	host     host

	handle  atomic.Uint64 // of the registration; 0 if there is none
	session atomic.Uint64 // of a classic provider, the one session that enabled it
	enabled atomic.Pointer[enablement]

	mu         sync.Mutex // held while the registration changes
	id         uintptr    // of the registration, by which calls of Windows find it
	registered bool

	lost, tooLarge atomic.Uint64
}

// A host is where events go: ETW, or a session in the process.
type host interface {
	register(p *Provider) error
	unregister(p *Provider) error
	write(p *Provider, f *frame) error
}

// An Option changes how a provider is made.
type Option func(*Provider)

// To has the provider write to a session in the process, and not to ETW.
func To(l *Local) Option { return func(p *Provider) { p.host = l } }

// Classic makes a provider of classic events, which have a class and an opcode in place
// of a provider and an id. Only one session can enable it at a time, the last one.
func Classic() Option { return func(p *Provider) { p.classic = true } }

// OnControl has f called when sessions enable or disable the provider, or ask for its
// state. Windows calls it on a thread of its own, inside of Register, too, and whoever
// controls the session may wait for it: it must be quick. It may write events. It must
// not close the provider, since Close waits for it.
func OnControl(f func(*Provider, Control)) Option { return func(p *Provider) { p.control = f } }

// Channels names the channels of the provider's manifest, in their order. The event log
// enables a channel by a keyword that is made of its place in the manifest; events get
// it only from providers that know their channels.
func Channels(values ...uint8) Option { return func(p *Provider) { p.channels = values } }

// Group makes the provider a member of a group, which sessions can enable as a whole.
func Group(g etw.GUID) Option {
	return func(p *Provider) { p.traits = appendTraits(p.desc.Name, &g) }
}

// New returns a provider, which writes nothing before it is registered. Without a GUID
// it has the one that is made of its name: see [etw.NameGUID].
func New(desc *etw.ProviderDesc, opts ...Option) *Provider {
	p := &Provider{desc: *desc}
	if p.desc.GUID.IsZero() {
		p.desc.GUID = etw.NameGUID(desc.Name)
	}
	p.traits = appendTraits(desc.Name, nil)
	if windows != nil {
		p.host = system{windows}
	}
	for _, o := range opts {
		o(p)
	}
	return p
}

// Desc returns the description of the provider.
func (p *Provider) Desc() *etw.ProviderDesc { return &p.desc }

// errRegistered is the error of a second registration.
var errRegistered = errors.New("provider: it is registered already")

// Register makes the provider known, so that sessions can enable it. Where there is no
// ETW, and the provider writes to no [Local], it fails with errors.ErrUnsupported.
func (p *Provider) Register() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.host == nil {
		return unsupported{}
	}
	if p.registered {
		return errRegistered
	}
	if err := p.host.register(p); err != nil {
		return err
	}
	p.registered = true
	return nil
}

// Close ends the registration. Nothing is written any more. It may be called twice.
func (p *Provider) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.registered {
		return nil
	}
	p.registered = false
	p.enabled.Store(nil)
	err := p.host.unregister(p)
	p.enabled.Store(nil) // whoever enabled it meanwhile came too late
	p.handle.Store(0)
	p.session.Store(0)
	return err
}

// unsupported is the error of systems without ETW.
type unsupported struct{}

func (unsupported) Error() string {
	return "provider: this system has no ETW; a provider.Local takes events on any system"
}

func (unsupported) Unwrap() error { return errors.ErrUnsupported }

// Stats counts the events that were enabled and yet not written.
type Stats struct {
	// Lost events found no room: the sessions' buffers were full.
	Lost uint64
	// TooLarge events do not fit a record, which has 64 KB, or the buffers of the
	// session, which are sometimes smaller.
	TooLarge uint64
}

// Stats returns the losses so far.
func (p *Provider) Stats() Stats { return Stats{p.lost.Load(), p.tooLarge.Load()} }

// appendTraits returns the traits of a provider: a size, the name, and the group.
func appendTraits(name string, group *etw.GUID) []byte {
	b := append([]byte{0, 0}, name...)
	b = append(b, 0)
	if group != nil {
		const size, kind = 2 + 1 + 16, 1
		b = append(b, size, 0, kind)
		b = append(b, group[:]...)
	}
	b[0], b[1] = byte(len(b)), byte(len(b)>>8)
	return b
}

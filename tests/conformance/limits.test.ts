import { limitsSuite } from './limits.suite.ts';
import { openers, openOurs } from './runtimes.fixture.ts';

for (const program of ['crun', 'runc']) limitsSuite(`our runtime with ${program}`, () => openOurs(program));
limitsSuite('containerd 1.6', openers('lim').containerd);

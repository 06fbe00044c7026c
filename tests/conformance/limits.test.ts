import { limitsSuite } from './limits.suite.ts';
import { openers } from './runtimes.fixture.ts';

const { ours, containerd } = openers('lim');
limitsSuite('our runtime', ours);
limitsSuite('containerd 1.6', containerd);

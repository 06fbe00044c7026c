import { openers } from './runtimes.fixture.ts';
import { statisticsSuite } from './statistics.suite.ts';

const { ours, containerd } = openers('stat');
statisticsSuite('our runtime', ours);
statisticsSuite('containerd 1.6', containerd);

import { mkdtempSync, rmdirSync } from 'node:fs';
import { loadSystem, mountAll, mountsBelow, unmountOnce } from '@podwright/system';

const system = loadSystem();
const target = mkdtempSync('/tmp/example-');
mountAll(system, [{ type: 'tmpfs', source: 'tmpfs', options: ['size=1m', 'nosuid'] }], target);
console.log(mountsBelow(target).map(({ type, options }) => `${type} ${options.join(',')}`));
unmountOnce(system, target);
rmdirSync(target);

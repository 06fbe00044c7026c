import assert from 'node:assert/strict';
import { test } from 'node:test';
import { heedColourChoice } from './colour-choice.ts';

test('CLICOLOR and CLICOLOR_FORCE apply unless NO_COLOR or FORCE_COLOR is set', () => {
  const check = (given: NodeJS.ProcessEnv, more: NodeJS.ProcessEnv) => {
    const environment = { ...given };
    heedColourChoice(environment);
    assert.deepEqual(environment, { ...given, ...more });
  };
  check({}, {});
  check({ CLICOLOR: '1' }, {});
  check({ CLICOLOR: '0' }, { NO_COLOR: '1' });
  check({ CLICOLOR_FORCE: '1' }, { FORCE_COLOR: '1' });
  check({ CLICOLOR_FORCE: '1', CLICOLOR: '0' }, { FORCE_COLOR: '1' });
  check({ CLICOLOR_FORCE: '0', CLICOLOR: '0' }, { NO_COLOR: '1' });
  check({ CLICOLOR_FORCE: '1', NO_COLOR: '1' }, {});
  check({ CLICOLOR: '0', FORCE_COLOR: '1' }, {});
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wrappedRows } from './wrapped-table.ts';

const HEADER = ['REASON', 'OBJECT', 'MESSAGE'];
const ROWS = [
  ['Pulled', 'pod/a-long-name (main)', 'the image is on  this host already, and was not pulled again'],
  ['Killing', 'pod/web', 'stop'],
];

function check(width: number | undefined, expected: string[]): void {
  assert.deepEqual(wrappedRows(HEADER, ROWS, width), expected);
}

test('text that fits stays in its column', () => {
  const whole = [
    'REASON    OBJECT                   MESSAGE',
    'Pulled    pod/a-long-name (main)   the image is on  this host already, and was not pulled again',
    'Killing   pod/web                  stop',
  ];
  for (const width of [undefined, 0, 95]) check(width, whole);
});

test('long text is wrapped in its column, or under the other columns on a narrow terminal', () => {
  check(70, [
    'REASON    OBJECT                  MESSAGE',
    'Pulled    pod/a-long-name (main)  the image is on this host already,\n                                  and was not pulled again',
    'Killing   pod/web                 stop',
  ]);
  check(50, [
    'REASON    OBJECT\n    MESSAGE',
    'Pulled    pod/a-long-name (main)\n    the image is on this host already, and was not\n    pulled again',
    'Killing   pod/web\n    stop',
  ]);
});

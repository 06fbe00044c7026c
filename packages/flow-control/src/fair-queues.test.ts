import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { FairQueues, type FairQueuesConfig, type Ticket } from './fair-queues.ts';

/** Queues with a manual clock. A request is named after its flow plus a number, such as `a1`. */
function queues(config: FairQueuesConfig) {
  let nowMs = 0;
  const fair = new FairQueues(config, () => nowMs);
  const tickets = new Map<string, Ticket>();
  const started: string[] = [];
  const running = new Set<string>();
  const enter = (name: string): boolean => {
    const start = () => {
      started.push(name);
      running.add(name);
    };
    const ticket = fair.enter(name.replace(/\d+$/, ''), start);
    if (ticket !== undefined) tickets.set(name, ticket);
    return ticket !== undefined;
  };
  const leave = (name: string) => {
    fair.leave(tickets.get(name)!);
    running.delete(name);
  };
  const pass = (ms: number) => {
    nowMs += ms;
  };
  return { fair, enter, leave, pass, started, running };
}

const QUEUING = { queues: 64, handSize: 6, queueLengthLimit: 50 };

suite('seats without queues', () => {
  test('are given to requests until none is free', () => {
    const { enter, leave, started } = queues({ seats: 2 });
    assert.deepEqual(
      ['a1', 'a2', 'b1'].map((name) => enter(name)),
      [true, true, false],
    );
    leave('a1');
    assert.ok(enter('b2'));
    assert.deepEqual(started, ['a1', 'a2', 'b2']);
  });
});

suite('seats with queues', () => {
  test('a flow gets at most half of the seats, so its slow requests do not block other flows', () => {
    const { enter, leave, started } = queues({ seats: 4, queuing: QUEUING });
    for (const name of ['a1', 'a2', 'a3', 'b1', 'b2', 'c1']) enter(name);
    assert.deepEqual(started, ['a1', 'a2', 'b1', 'b2']);
    leave('b1');
    assert.deepEqual(started.slice(4), ['c1']);
    leave('b2');
    assert.deepEqual(started.slice(5), [], 'the flow has half of the seats');
    leave('a1');
    assert.deepEqual(started.slice(5), ['a3']);
  });

  test('a request that stops waiting frees its place in the queue', () => {
    const { enter, leave, started } = queues({ seats: 1, queuing: { queues: 1, handSize: 1, queueLengthLimit: 1 } });
    assert.ok(enter('a1'));
    assert.ok(enter('a2'));
    assert.ok(!enter('a3'), 'the queue is full');
    leave('a2');
    assert.ok(enter('a4'));
    leave('a1');
    assert.deepEqual(started, ['a1', 'a4']);
  });

  test('more seats start waiting requests, and fewer seats do not end running ones', () => {
    const { fair, enter, started } = queues({ seats: 1, queuing: QUEUING });
    for (const name of ['a1', 'b1', 'c1', 'd1']) enter(name);
    assert.deepEqual(started, ['a1']);
    fair.configure({ seats: 3, queuing: { ...QUEUING, queues: 8 } });
    assert.equal(started.length, 3);
    fair.configure({ seats: 1, queuing: QUEUING });
    assert.equal(started.length, 3);
  });

  test('flows get equal seat time, not equal numbers of requests', () => {
    const { enter, leave, pass, started, running } = queues({ seats: 2, queuing: QUEUING });
    for (let round = 0; round < 40; round++) for (const flow of ['slow', 'fast']) enter(`${flow}${round}`);
    const ends = new Map<string, number>();
    for (let ms = 0; ms < 400; ms++) {
      for (const name of [...running]) {
        if (!ends.has(name)) ends.set(name, ms + (name.startsWith('slow') ? 20 : 4));
        if (ends.get(name)! <= ms) leave(name);
      }
      pass(1);
    }
    const slow = started.filter((name) => name.startsWith('slow')).length;
    const fast = started.filter((name) => name.startsWith('fast')).length;
    assert.equal(fast, 40);
    assert.ok(slow >= 10 && slow <= 25, `${slow}`);
  });

  test('a request waits for only a few of another flow’s thousands of requests', () => {
    const { enter, leave, pass, started, running } = queues({ seats: 10, queuing: QUEUING });
    let refused = 0;
    for (let index = 0; index < 5000; index++) if (!enter(`large${index}`)) refused += 1;
    assert.ok(refused > 4500, `${refused}`);
    assert.equal(running.size, 5, 'half of the seats');
    enter('small1');
    assert.equal(started.at(-1), 'small1', 'at once');
    for (let index = 0; index < 5; index++) enter(`other${index}`);
    const before = started.length;
    enter('small2');
    while (!running.has('small2')) {
      pass(1);
      leave([...running][0]!);
    }
    assert.ok(started.length - before < 20, `${started.length - before}`);
  });

  test('all requests of a thousand flows run, and no queue remains in memory', () => {
    const { fair, enter, leave, pass, started, running } = queues({ seats: 20, queuing: QUEUING });
    for (let round = 0; round < 2; round++) for (let flow = 0; flow < 1000; flow++) enter(`flow${flow}.${round}`);
    assert.equal(running.size, 20);
    while (running.size > 0) {
      pass(1);
      leave([...running][0]!);
    }
    assert.equal(started.length, 2000);
    assert.equal(fair.activeQueues, 0);
  });
});

import { Counter, Gauge, Histogram, type Registry } from '@podwright/base';
import type { Adjusted } from './borrow-seats.ts';
import type { FlowClass } from './flow-class.ts';
import type { FlowObserver } from './flow-observer.ts';
import type { DemandSummary } from './seat-demand.ts';
import type { SeatLimits } from './seats.ts';

const SUBSYSTEM = 'apiserver_flowcontrol';
const LABELS = ['priority_level', 'flow_schema'] as const;
/** Upstream's histogram buckets. */
const SECONDS = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30];
const DEMANDS = ['highest', 'average', 'deviation', 'smoothed'] as const;
const LENGTHS = [0, 10, 25, 50, 100, 250, 500, 1000];

/** Metrics with upstream's names and labels (apiserver, util/flowcontrol/metrics). */
export class FlowMetrics implements FlowObserver {
  readonly #nominal;
  readonly #lower;
  readonly #upper;
  readonly #current;
  readonly #target;
  readonly #demand;
  readonly #fraction;
  readonly #refused;
  readonly #dispatched;
  readonly #inQueue;
  readonly #length;
  readonly #executing;
  readonly #seats;
  readonly #waits;
  readonly #executions;

  constructor(registry: Registry) {
    const registers = [registry];
    const named = (name: string, help: string) => ({ name: `${SUBSYSTEM}_${name}`, help, registers });
    const ofLevel = ['priority_level'] as const;
    const gauge = (name: string, help: string) => new Gauge({ ...named(name, help), labelNames: LABELS });
    const levelGauge = (name: string, help: string) => new Gauge({ ...named(name, help), labelNames: ofLevel });
    this.#nominal = levelGauge('nominal_limit_seats', 'Seats of each priority level.');
    this.#lower = levelGauge('lower_limit_seats', 'Seats that each priority level never lends.');
    this.#upper = levelGauge(
      'upper_limit_seats',
      'Seats that each priority level has if it borrows as many as it may.',
    );
    this.#current = levelGauge('current_limit_seats', 'Seats that each priority level has now.');
    this.#target = levelGauge('target_seats', 'Seats that each priority level could use now.');
    this.#demand = {
      highest: levelGauge(
        'demand_seats_high_watermark',
        'Most seats that requests needed at a time in the last period.',
      ),
      average: levelGauge('demand_seats_average', 'Seats that requests needed on average in the last period.'),
      deviation: levelGauge('demand_seats_stdev', 'Standard deviation of the seats that requests needed.'),
      smoothed: levelGauge('demand_seats_smoothed', 'Seats that requests needed, smoothed over several periods.'),
    };
    this.#fraction = new Gauge({ ...named('seat_fair_frac', 'Share of its target that each priority level gets.') });
    this.#refused = new Counter({
      ...named('rejected_requests_total', 'Requests refused with 429, by reason.'),
      labelNames: [...LABELS, 'reason'] as const,
    });
    this.#dispatched = new Counter({
      ...named('dispatched_requests_total', 'Requests that got a seat.'),
      labelNames: LABELS,
    });
    this.#inQueue = gauge('current_inqueue_requests', 'Requests that wait in queues.');
    this.#length = new Histogram({
      ...named('request_queue_length_after_enqueue', 'Length of the queue after a request was added to it.'),
      labelNames: LABELS,
      buckets: LENGTHS,
    });
    this.#executing = gauge('current_executing_requests', 'Requests that have seats.');
    this.#seats = gauge('current_executing_seats', 'Seats that requests occupy.');
    this.#waits = new Histogram({
      ...named('request_wait_duration_seconds', 'Time that requests waited in queues.'),
      labelNames: [...LABELS, 'execute'] as const,
      buckets: SECONDS,
    });
    this.#executions = new Histogram({
      ...named('request_execution_seconds', 'Time that requests had their seats.'),
      labelNames: [...LABELS, 'type'] as const,
      buckets: SECONDS,
    });
  }

  levelConfigured(name: string, { nominal, min, max }: SeatLimits): void {
    this.#nominal.set({ priority_level: name }, nominal);
    this.#lower.set({ priority_level: name }, min);
    this.#upper.set({ priority_level: name }, max);
  }

  levelAdjusted(name: string, { seats, target = 0 }: Adjusted, demand: DemandSummary): void {
    this.#current.set({ priority_level: name }, seats);
    this.#target.set({ priority_level: name }, target);
    for (const field of DEMANDS) this.#demand[field].set({ priority_level: name }, demand[field]);
  }

  seatsShared(fraction: number): void {
    this.#fraction.set(fraction);
  }

  levelRemoved(name: string): void {
    const { highest, average, deviation, smoothed } = this.#demand;
    for (const gauge of [this.#nominal, this.#lower, this.#upper, this.#current, this.#target])
      gauge.remove({ priority_level: name });
    for (const gauge of [highest, average, deviation, smoothed]) gauge.remove({ priority_level: name });
  }

  enqueued(flowClass: FlowClass, length: number): void {
    this.#length.observe(labelsOf(flowClass), length);
  }

  queued(flowClass: FlowClass, change: 1 | -1): void {
    this.#inQueue.inc(labelsOf(flowClass), change);
  }

  waited(flowClass: FlowClass, seconds: number, runs: boolean): void {
    this.#waits.observe({ ...labelsOf(flowClass), execute: String(runs) }, seconds);
  }

  started(flowClass: FlowClass): void {
    const labels = labelsOf(flowClass);
    this.#dispatched.inc(labels);
    this.#executing.inc(labels);
    this.#seats.inc(labels);
  }

  ended(flowClass: FlowClass, seconds: number): void {
    const labels = labelsOf(flowClass);
    this.#executing.dec(labels);
    this.#seats.dec(labels);
    this.#executions.observe({ ...labels, type: 'regular' }, seconds);
  }

  refused(flowClass: FlowClass, reason: string): void {
    this.#refused.inc({ ...labelsOf(flowClass), reason });
  }
}

const labelsOf = ({ level, schema }: FlowClass) => ({ priority_level: level.name, flow_schema: schema.name });

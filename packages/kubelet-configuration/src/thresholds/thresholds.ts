import { formatQuantity, isQuantity, parseGoDuration, parseQuantity, quantityValue } from '@podwright/kube-api';
import { isSignal, SIGNALS, type Signal } from './signals.ts';

/** The values of a KubeletConfiguration's evictionHard, evictionSoft and related fields. */
export type ThresholdSettings = {
  hard: Readonly<Record<string, string>>;
  soft: Readonly<Record<string, string>>;
  softGracePeriod: Readonly<Record<string, string>>;
  minimumReclaim: Readonly<Record<string, string>>;
};

/** An absolute amount in the signal's unit (bytes or a count), or a share of the capacity. */
export type ThresholdValue = { kind: 'amount'; text: string } | { kind: 'share'; share: number };

/** An eviction threshold. It is met if less than `value` has been available for `gracePeriodMs`, which is 0 for a hard threshold. */
export type Threshold = {
  signal: Signal;
  value: ThresholdValue;
  gracePeriodMs: number;
  /** Once met, the threshold stays met until `value` plus this amount is available. */
  minReclaim?: ThresholdValue;
};

export type ThresholdProblem = { setting: keyof ThresholdSettings; message: string };

/** Upstream's default thresholds (eviction/defaults_linux.go). */
export const DEFAULT_HARD_THRESHOLDS: Readonly<Record<string, string>> = {
  'memory.available': '100Mi',
  'nodefs.available': '10%',
  'nodefs.inodesFree': '5%',
  'imagefs.available': '15%',
  'imagefs.inodesFree': '5%',
};

/**
 * Default thresholds for a node without a cluster. Its owner often fills the disk beyond upstream's thresholds, and evicted pods cannot
 * move to another node, so eviction only needs to keep the disk from filling up completely.
 */
export const STANDALONE_HARD_THRESHOLDS: Readonly<Record<string, string>> = {
  'memory.available': '100Mi',
  'nodefs.available': '1%',
  'nodefs.inodesFree': '1%',
  'imagefs.available': '1%',
  'imagefs.inodesFree': '1%',
};

/** Validates threshold settings like upstream's ParseThresholdConfig. */
export function thresholdProblems(settings: ThresholdSettings): ThresholdProblem[] {
  const problems = (setting: keyof ThresholdSettings, why: (signal: string, text: string) => string | undefined) =>
    Object.entries(settings[setting]).flatMap(([signal, text]) => {
      const message = isSignal(signal)
        ? why(signal, text)
        : `${shown(signal)} is not an eviction signal, only ${SIGNALS.join(', ')}`;
      return message === undefined ? [] : [{ setting, message }];
    });
  return [
    ...problems('hard', thresholdProblem),
    ...problems('soft', (signal, text) => thresholdProblem(signal, text) ?? withoutGrace(signal, settings)),
    ...problems('softGracePeriod', (signal, text) => {
      const isPeriod = (parseGoDuration(text) ?? -1) >= 0;
      return isPeriod ? undefined : `${signal}: must be a duration such as 1m30s, got ${shown(text)}`;
    }),
    ...problems('minimumReclaim', (signal, text) => {
      const isAmount = text.endsWith('%') ? (percentOf(text) ?? 0) > 0 : nanosOf(text) >= 0n;
      return isAmount ? undefined : `${signal}: must be an amount such as 500Mi or 5%, got ${shown(text)}`;
    }),
  ];
}

function thresholdProblem(signal: string, text: string): string | undefined {
  if (!text.endsWith('%')) {
    const isPositive = nanosOf(text) > 0n;
    return isPositive
      ? undefined
      : `${signal}: must be an amount of more than 0 such as 100Mi, or a share such as 10% (0% for none), got ${shown(text)}`;
  }
  const percent = percentOf(text) ?? -1;
  return percent >= 0 && percent <= 100
    ? undefined
    : `${signal}: must be between 0% and 100%, or an amount such as 100Mi, got ${shown(text)}`;
}

function withoutGrace(signal: string, { softGracePeriod }: ThresholdSettings): string | undefined {
  return softGracePeriod[signal] === undefined
    ? `${signal}: needs its grace period in evictionSoftGracePeriod`
    : undefined;
}

const shown = (text: string) => JSON.stringify(text.slice(0, 60));
const nanosOf = (text: string) => (isQuantity(text) ? parseQuantity(text).nanos : -1n);

function percentOf(text: string): number | undefined {
  const [, number] = /^([+-]?(?:\d{1,20}\.?\d{0,20}|\.\d{1,20}))%$/.exec(text) ?? [];
  return number === undefined ? undefined : Number(number);
}

/**
 * Parses valid settings into hard and soft thresholds. If the kernel limits the pods as a whole to allocatable, the hard memory threshold
 * also applies to allocatable memory. A share of 0% or 100% disables a threshold.
 */
export function thresholdsOf(settings: ThresholdSettings, pods: { areHeldToAllocatable: boolean }): Threshold[] {
  const { hard, soft, softGracePeriod, minimumReclaim } = settings;
  const parsed = (texts: Readonly<Record<string, string>>, graceMs: (signal: Signal) => number) =>
    Object.entries(texts).flatMap(([signal, text]): Threshold[] => {
      if (!isSignal(signal) || text === '0%' || text === '100%') return [];
      const reclaim = minimumReclaim[signal];
      const minReclaim = reclaim === undefined ? {} : { minReclaim: thresholdValue(reclaim) };
      return [{ signal, value: thresholdValue(text), gracePeriodMs: graceMs(signal), ...minReclaim }];
    });
  const all = [
    ...parsed(hard, () => 0),
    ...parsed(soft, (signal) => parseGoDuration(softGracePeriod[signal] ?? '') ?? 0),
  ];
  const ofMemory = all.filter((one) => one.signal === 'memory.available' && isHard(one));
  const more = ofMemory.map((one): Threshold => ({ ...one, signal: 'allocatableMemory.available' }));
  return [...all, ...(pods.areHeldToAllocatable ? more : [])];
}

/** Whether this is a hard threshold: pods are evicted as soon as it is met. */
export function isHard({ gracePeriodMs }: Threshold): boolean {
  return gracePeriodMs === 0;
}

/** Parses a threshold's value. As in upstream, shares are 32-bit floats, which affects the last digits of computed amounts. */
export function thresholdValue(text: string): ThresholdValue {
  if (!text.endsWith('%')) return { kind: 'amount', text };
  return { kind: 'share', share: Math.fround(Math.fround(percentOf(text) ?? 0) / 100) };
}

/** Returns the threshold's value as an amount in the signal's unit. */
export function amountOf(value: ThresholdValue, capacity: bigint): bigint {
  return value.kind === 'amount' ? quantityValue(value.text) : BigInt(Math.trunc(Number(capacity) * value.share));
}

/** Returns the threshold's value as a Kubernetes quantity. */
export function amountText(value: ThresholdValue, capacity: bigint): string {
  if (value.kind === 'share') return binaryText(amountOf(value, capacity));
  return formatQuantity(parseQuantity(value.text).nanos, value.text);
}

/** Returns the threshold's value as written in the configuration: an amount or a percentage. */
export function valueText(value: ThresholdValue): string {
  return value.kind === 'amount' ? value.text : `${Number((value.share * 100).toPrecision(6))}%`;
}

/** Formats a number of bytes, with binary suffixes from 1024 bytes up (resource.BinarySI). */
export function binaryText(amount: bigint): string {
  return formatQuantity(amount * 1_000_000_000n, amount >= 1024n ? 'Ki' : '');
}

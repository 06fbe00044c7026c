import { closeSync, statSync } from 'node:fs';
import { type System, sealedCopy } from '@podwright/system';

type Copy = { descriptor: number; of: string };

/**
 * Copies of OCI runtimes in memory that nobody can change. A runtime protects its own file from its containers, which could
 * otherwise write to it through /proc/self/exe (CVE-2019-5736): each time that it is started it makes such a copy, or a
 * read-only mount, of itself and starts that in its place. One that is already started from a sealed copy knows that it is
 * safe, and goes on.
 */
export class SealedCopies implements Disposable {
  readonly #system: System;
  readonly #copies = new Map<string, Copy>();
  /** Those of programs that were replaced meanwhile. Kept: a call that has begun may still be about to start one. */
  readonly #outdated: Copy[] = [];

  constructor(system: System) {
    this.#system = system;
  }

  /** Where the copy of a program is started as long as this process lives; the program's own path where there can be no copy. */
  path(program: string): string {
    try {
      return `/proc/${process.pid}/fd/${this.#copy(program).descriptor}`;
    } catch {
      return program;
    }
  }

  [Symbol.dispose](): void {
    for (const { descriptor } of [...this.#copies.values(), ...this.#outdated.splice(0)]) closeSync(descriptor);
    this.#copies.clear();
  }

  #copy(program: string): Copy {
    const { dev, ino, size, mtimeMs, ctimeMs } = statSync(program);
    const of = [dev, ino, size, mtimeMs, ctimeMs].join(' ');
    const known = this.#copies.get(program);
    if (known?.of === of) return known;
    const copy = { descriptor: sealedCopy(this.#system, program), of };
    if (known !== undefined) this.#outdated.push(known);
    this.#copies.set(program, copy);
    return copy;
  }
}

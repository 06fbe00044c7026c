/** A relative path without empty components and `.`: `./a//b/` is `a/b`. `..` stays. Pure. */
export function shortestPath(path: string): string {
  return path
    .split('/')
    .filter((name) => name !== '' && name !== '.')
    .join('/');
}

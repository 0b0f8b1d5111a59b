// Prints the milliseconds of the first start of a server in a process, and the median of a hundred forks.
import { start } from './src/index.js';

let begin = performance.now();
const server = await start();
const started = performance.now() - begin;
const forks = [];
for (let i = 0; i < 100; i++) {
  begin = performance.now();
  const fork = await server.fork();
  forks.push(performance.now() - begin);
  await fork.close();
}
await server.close();
forks.sort((a, b) => a - b);
console.log(`${started.toFixed(1)} ${forks[50].toFixed(1)}`);

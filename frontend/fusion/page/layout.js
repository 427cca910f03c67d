// Places the nodes of a graph without cycles in layers, from top to bottom.
//
// nodes: [{width, height, isSource}] in an order in which edges go forwards; edges: [[from, to]] by number. Nodes get `x` and `y` of
// their middles; the answer has the size and, for each edge, the points that it goes through.
"use strict";

function layOut(nodes, edges) {
  const gapX = 18, gapY = 24;
  const items = nodes.map((node, id) => ({id, width: node.width, height: node.height, isSource: node.isSource, rank: 0, up: [], down: []}));

  // Ranks: below all that goes in; what nothing goes into stands right above its first reader.
  for (const [from, to] of edges)
    items[to].rank = Math.max(items[to].rank, items[from].rank + 1);
  nodes.forEach((node, id) => {
    const readers = edges.filter(([from]) => from === id).map(([, to]) => items[to].rank);
    if (node.isSource && readers.length)
      items[id].rank = Math.min(...readers) - 1;
  });

  // Edges over several layers go through a point in each between.
  const chains = edges.map(([from, to]) => {
    const chain = [items[from]];
    for (let rank = items[from].rank + 1; rank < items[to].rank; ++rank) {
      items.push({width: 6, height: 0, rank, up: [], down: [], isPoint: true});
      chain.push(items.at(-1));
    }
    chain.push(items[to]);
    for (let n = 1; n < chain.length; ++n) {
      chain[n - 1].down.push(chain[n]);
      chain[n].up.push(chain[n - 1]);
    }
    return chain;
  });
  const layers = [];
  for (const item of items)
    (layers[item.rank] ??= []).push(item);

  orderLayers(layers);
  placeAcross(layers, gapX);

  let y = 0;
  for (const layer of layers) {
    const height = Math.max(...layer.map(item => item.height));
    for (const item of layer)
      item.y = y + height / 2;
    y += height + gapY;
  }
  const left = Math.min(...items.map(item => item.x - item.width / 2));
  for (const item of items)
    item.x -= left;
  nodes.forEach((node, id) => Object.assign(node, {x: items[id].x, y: items[id].y}));
  return {
    width: Math.max(...items.map(item => item.x + item.width / 2)),
    height: y - gapY,
    wires: chains.map(chain => chain.map(({x, y, height}) => ({x, y, height}))),
  };
}

const mean = (list, otherwise) => list.length ? list.reduce((a, b) => a + b, 0) / list.length : otherwise;
// What a kernel should stand under: what other kernels give, where there is such.
const inner = list => list.some(item => !item.isSource) ? list.filter(item => !item.isSource) : list;

// Puts each layer in the order of its neighbours' means, to and fro, and keeps what crosses least.
function orderLayers(layers) {
  const number = layer => layer.forEach((item, n) => item.order = n);
  const crossings = () => {
    let count = 0;
    for (const layer of layers) {
      const ends = layer.flatMap(item => item.down.map(other => [item.order, other.order]));
      for (let a = 0; a < ends.length; ++a)
        for (let b = 0; b < a; ++b)
          count += (ends[a][0] - ends[b][0]) * (ends[a][1] - ends[b][1]) < 0;
    }
    return count;
  };
  layers.forEach(number);
  let best = layers.map(layer => [...layer]), least = crossings();
  for (let sweep = 0; sweep < 12 && least; ++sweep) {
    const isDown = sweep % 2 === 0;
    for (const layer of isDown ? layers : [...layers].reverse()) {
      for (const item of layer)
        item.wish = mean((isDown ? item.up : item.down).map(other => other.order), item.order);
      layer.sort((a, b) => a.wish - b.wish || a.order - b.order);
      number(layer);
    }
    const count = crossings();
    if (count < least)
      [best, least] = [layers.map(layer => [...layer]), count];
  }
  best.forEach((layer, n) => { layers[n] = layer; number(layer); });
}

// Moves each to the middle of its neighbours, as far as those beside it let it: least squares under
// least distances, by pooling what would overlap.
function placeAcross(layers, gap) {
  for (const layer of layers) {
    let x = 0;
    for (const item of layer) {
      item.x = x + item.width / 2;
      x += item.width + gap;
    }
  }
  for (let sweep = 0; sweep < 17; ++sweep) {
    const isDown = sweep % 2 === 0;
    for (const layer of isDown ? layers : [...layers].reverse()) {
      let offset = 0;
      const pools = [];
      layer.forEach((item, n) => {
        if (n)
          offset += (layer[n - 1].width + item.width) / 2 + gap;
        item.offset = offset;
        const wish = mean(inner(isDown ? item.up : item.down).map(other => other.x), item.x);
        const weight = item.isPoint ? 4 : item.isSource ? .1 : 1;
        pools.push({sum: weight * (wish - offset), weight, items: [item]});
        while (pools.length > 1 && pools.at(-2).sum / pools.at(-2).weight > pools.at(-1).sum / pools.at(-1).weight) {
          const last = pools.pop(), before = pools.at(-1);
          before.sum += last.sum;
          before.weight += last.weight;
          before.items.push(...last.items);
        }
      });
      for (const pool of pools)
        for (const item of pool.items)
          item.x = pool.sum / pool.weight + item.offset;
    }
  }
}

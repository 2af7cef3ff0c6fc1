"""Teachers: models that were trained before, whose mean opinion a new one learns from beside the labels."""

import functools
import multiprocessing
import random
import time

import numpy as np
import torch

import export
import features as F
import readers

TAGS = len(F.TAGS)


def rows_of(path, words):
    """The rows of part of a list of words in a weights file; -1 for words it does not know."""
    model = export.read(path)
    return [-1 if F.fixed_word_row(word) is not None else model.vocabulary.get(word, -1) for word in words]


class Teachers:
    """The models in the given files, each with the row of every word worked out beforehand."""

    def __init__(self, paths, words, features, network_of, workers, device):
        parts = [words[start:start + 20_000] for start in range(0, len(words), 20_000)]
        self.members = []
        for path in paths:
            with multiprocessing.Pool(workers) as pool:
                own = np.concatenate([np.array(part) for part in pool.map(functools.partial(rows_of, path), parts)])
            model = export.read(path)
            network = network_of(model).to(device).eval()
            self.members.append((network, self.table(model, own, features, device)))

    @staticmethod
    def table(model, own, features, device):
        """[words, row]: in half precision, which holds these sums exactly."""
        known, grams = (torch.tensor(table.astype(np.float32) / 32, device=device) for table in (model.words, model.grams))
        grams = torch.cat([grams, torch.zeros(1, grams.shape[1], device=device)])
        rows = torch.tensor(np.concatenate([[0], own]), device=device)
        rows = torch.where(features.is_word, rows, features.rows)
        table = torch.empty(len(rows), known.shape[1], dtype=torch.half, device=device)
        for start in range(0, len(rows), 50_000):
            here = slice(start, start + 50_000)
            spelled = grams[features.grams[here]].sum(1)
            table[here] = torch.where((rows[here] >= 0).unsqueeze(-1), known[rows[here].clamp(min=0)], spelled).half()
        return table

    def opinion(self, run, ids, contexts):
        """The mean of their probabilities for each tag."""
        with torch.no_grad():
            told = [run(network, table[ids].float(), contexts, ids != 0) for network, table in self.members]
            return sum(torch.softmax(scores[..., :TAGS], -1) for scores in told) / len(told)


def blend(ids, contexts, count, share):
    """The first rows with some tokens from elsewhere in the batch: texts that nobody wrote, for teachers to judge."""
    pool_ids, pool_shapes = ids[ids != 0], (contexts // 20)[ids != 0]
    chosen = (ids != 0) & (torch.rand(ids.shape, device=ids.device) < share)
    chosen[count:] = False
    source = torch.randint(0, len(pool_ids), ids.shape, device=ids.device)
    return torch.where(chosen, pool_ids[source], ids), torch.where(chosen, pool_shapes[source] * 20 + contexts % 20, contexts)


class Pool:
    """Rows that readers have judged, drawn again and again: they are too slow to be asked at every step."""

    def __init__(self, args, batches, judges, teachers, device):
        self.device, self.order = device, None
        if not judges:
            while not args.pool.exists():
                time.sleep(1)
            self.rows = torch.load(args.pool, map_location=device)
        else:
            self.rows = self.judged(args, batches, judges, teachers, device)
            if args.pool:
                begun = args.pool.with_suffix(".begun")
                torch.save(self.rows, begun)
                begun.rename(args.pool)
        self.size, self.batch = len(self.rows[0]), len(batches.harmless)

    @staticmethod
    def judged(args, batches, judges, teachers, device):
        """[word ids, contexts, tags, unlabelled types, opinions] of as many rows as time allows."""
        opinions, began, parts = [readers.opinion_of(judge) for judge in judges], time.time(), []
        shares = [(1 - args.teachers_count * bool(teachers)) / len(judges)] * len(judges)
        if teachers:
            opinions.append(lambda ids, contexts: teachers.opinion(lambda network, *rest: network(*rest)[1], ids, contexts))
            shares.append(args.teachers_count)
        while time.time() - began < args.pool_seconds and len(parts) * args.batch < args.pool_rows:
            ids, contexts, tags, masks = batches.draw()
            ids = batches.near(batches.swap(ids, tags, args.swap_word), contexts, tags, args.near_word)
            # The readers know English: rows in other languages keep their labels, so they come last.
            order = torch.argsort(torch.rand(len(ids), device=device) + batches.foreign)
            harmless, made = batches.harmless[order], batches.made[order]
            ids, contexts, tags, masks = ids[order], contexts[order], tags[order], masks[order]
            blended = int(args.blend * len(ids))
            ids, contexts = blend(ids, contexts, blended, 0.02 + 0.2 * random.random())
            tags[:blended], made[:blended] = 255, False
            told = sum(share * opinion(ids, contexts) for share, opinion in zip(shares, opinions))
            # Whoever sees a person where the text is known to hold none is not asked.
            told[..., 1:7] *= 1 - (harmless.unsqueeze(-1) & (tags == 0)).float().unsqueeze(-1)
            told /= told.sum(-1, keepdim=True).clamp(min=1e-3)
            told = told * (readers.read_at(judges, ids, contexts) & (ids != 0) & ~made.unsqueeze(-1)).unsqueeze(-1)
            parts.append((ids.int(), contexts.to(torch.uint8), tags.to(torch.uint8), masks.to(torch.uint8), told.half()))
        return [torch.cat(part) for part in zip(*parts)]

    def draw(self):
        """(word ids, contexts, tags, unlabelled types, opinions); every row once before any comes again."""
        if self.order is None or len(self.order) < self.batch:
            self.order = torch.randperm(self.size, device=self.device)
        here, self.order = self.order[:self.batch], self.order[self.batch:]
        ids, contexts, tags, masks, told = (part[here] for part in self.rows)
        return ids.long(), contexts.long(), tags.long(), masks.long(), told.float()

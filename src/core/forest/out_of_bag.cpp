#include "forest/out_of_bag.hpp"

#include <algorithm>
#include <optional>

#include "base/scratch_pool.hpp"
#include "forest/forest_routing.hpp"

namespace committee {

LeafLoss::LeafLoss(const CompactTree& tree, const ForestInfo& info, const Target& target, Loss loss)
    : values_(tree.values()), n_values_(info.n_values), target_(&target), loss_(loss) {
  if (loss == Loss::kError) classes_ = likeliest_classes(values_, info);
}

double LeafLoss::operator()(std::uint32_t value_row, std::size_t row) const {
  const std::size_t n_outputs = target_->n_outputs;
  if (loss_ == Loss::kBrier) return brier(value_row, row);
  double sum = 0.0;
  for (std::size_t output = 0; output < n_outputs; ++output) {
    if (loss_ == Loss::kError) {
      const auto truth = static_cast<std::uint32_t>(target_->classes[row * n_outputs + output]);
      sum += classes_[value_row * n_outputs + output] != truth ? 1.0 : 0.0;
    } else {
      const double deviation =
          values_[value_row * n_values_ + output] - target_->reals[row * n_outputs + output];
      sum += deviation * deviation;
    }
  }
  return sum / static_cast<double>(n_outputs);
}

double LeafLoss::brier(std::uint32_t value_row, std::size_t row) const {
  const double* shares = values_.data() + value_row * n_values_;
  double sum = 0.0;
  for (std::size_t output = 0; output < target_->n_outputs; ++output) {
    const auto truth =
        static_cast<std::size_t>(target_->classes[row * target_->n_outputs + output]);
    for (std::size_t k = 0; k < target_->n_classes[output]; ++k) {
      const double deviation = shares[k] - (k == truth ? 1.0 : 0.0);
      sum += deviation * deviation;
    }
    shares += target_->n_classes[output];
  }
  return sum / static_cast<double>(target_->n_outputs);
}

std::vector<std::uint32_t> LeftOut::rows(std::uint64_t tree,
                                         std::vector<std::uint32_t>& counts) const {
  plan.draw(row_seed, tree, counts);
  std::vector<std::uint32_t> rows;
  rows.reserve(counts.size() / 2);
  for (std::uint32_t row = 0; row < counts.size(); ++row) {
    if (counts[row] == 0 && weight(row) > 0.0) rows.push_back(row);
  }
  return rows;
}

namespace {

// A few trees at a time: their left out rows, and what walks and sums need.
struct Member {
  const CompactTree* tree = nullptr;
  std::vector<std::uint32_t> rows;
  std::optional<RoutingNodes> nodes;
  std::optional<LeafLoss> loss;
  std::vector<double> votes;

  // The rows in a range of the table.
  std::span<const std::uint32_t> within(Range range) const {
    const auto begin = std::lower_bound(rows.begin(), rows.end(), range.begin);
    return {begin, std::lower_bound(begin, rows.end(), range.end)};
  }
};

class OutOfBag {
 public:
  OutOfBag(const Forest& forest, const TableView& table, const LeftOut& left_out,
           std::span<double> sums, std::span<std::uint32_t> n_votes)
      : forest_(forest), table_(table), left_out_(left_out), sums_(sums), n_votes_(n_votes) {}

  Member make_member(std::size_t index, const Target& target, bool hard) {
    Member member;
    member.tree = forest_.trees[index].get();
    counts_.lend([&](auto& counts) { member.rows = left_out_.rows(index, counts); });
    member.nodes = make_routing_nodes(*member.tree, used_);
    member.loss.emplace(*member.tree, forest_.info, target,
                        target.is_classification ? Loss::kError : Loss::kSquaredError);
    if (hard) member.votes = as_votes(member.tree->values(), forest_.info);
    return member;
  }

  // Predicts the rows of a block by the members; losses has one entry a member.
  void ask(std::span<const Member> members, Range block, TreeLoss* losses) {
    rows_.lend([&](KeyRows& keys) {
      copy_rows(table_, used_, block, keys);
      std::vector<std::uint32_t> leaves(block.end - block.begin);
      for (std::size_t i = 0; i < members.size(); ++i) {
        const Member& member = members[i];
        const std::span<const std::uint32_t> rows = member.within(block);
        route(*member.tree, *member.nodes, table_, keys, rows, Reached::kValueRow, leaves.data());
        losses[i] = add(member, rows, leaves);
      }
    });
  }

 private:
  TreeLoss add(const Member& member, std::span<const std::uint32_t> rows,
               std::span<const std::uint32_t> leaves) {
    const std::size_t n_values = forest_.info.n_values;
    const std::vector<double>& values = member.votes.empty() ? member.tree->values() : member.votes;
    TreeLoss total;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::size_t row = rows[i];
      const double weight = left_out_.weight(row);
      total.loss += weight * (*member.loss)(leaves[i], row);
      total.weight += weight;
      const double* leaf = values.data() + std::size_t{leaves[i]} * n_values;
      for (std::size_t k = 0; k < n_values; ++k) sums_[row * n_values + k] += leaf[k];
      ++n_votes_[row];
    }
    return total;
  }

  const Forest& forest_;
  const TableView& table_;
  const LeftOut& left_out_;
  std::span<double> sums_;
  std::span<std::uint32_t> n_votes_;
  ScratchPool<std::vector<std::uint32_t>> counts_;
  ScratchPool<KeyRows> rows_;
  const UsedFeatures used_ = UsedFeatures::of(forest_, table_.n_features());
};

}  // namespace

std::vector<TreeLoss> add_out_of_bag(const Forest& forest, const TableView& table,
                                     const Target& target, const LeftOut& left_out, Range trees,
                                     bool hard, std::span<double> sums,
                                     std::span<std::uint32_t> n_votes, std::size_t n_threads,
                                     Monitor& monitor) {
  constexpr std::size_t kBatch = 32;  // trees; bounds the memory for their rows
  OutOfBag out_of_bag(forest, table, left_out, sums, n_votes);
  const std::size_t step = block_rows(table);  // blocks do not depend on the threads
  const std::size_t n_blocks = (table.n_rows + step - 1) / step;
  std::vector<TreeLoss> losses(trees.end - trees.begin);
  for (std::size_t first = trees.begin; first < trees.end; first += kBatch) {
    std::vector<Member> members(std::min(kBatch, trees.end - first));
    parallel_for(
        members.size(), n_threads,
        [&](std::size_t i) { members[i] = out_of_bag.make_member(first + i, target, hard); },
        &monitor);
    std::vector<TreeLoss> parts(n_blocks * members.size());
    parallel_for(
        n_blocks, n_threads,
        [&](std::size_t i) {
          const Range block{i * step, std::min((i + 1) * step, table.n_rows)};
          out_of_bag.ask(members, block, parts.data() + i * members.size());
        },
        &monitor);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      TreeLoss& loss = losses[first - trees.begin + i % members.size()];
      loss.loss += parts[i].loss;
      loss.weight += parts[i].weight;
    }
    monitor.advance(members.size());
  }
  for (TreeLoss& loss : losses) loss.loss = loss.weight > 0.0 ? loss.loss / loss.weight : 0.0;
  return losses;
}

}  // namespace committee

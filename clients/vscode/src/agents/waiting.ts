/** What waits for a yes: approvals and plans of each folder, shown exactly, decided once. */

import * as vscode from "vscode";
import type { Approval, ApprovalDecision, Plan, PlanDecision } from "redline-protocol";
import { Failure, attempt, failureOf, say } from "../failure.ts";
import type { Folder } from "../folder.ts";
import type { Folders } from "../folders.ts";
import { approvalFacts, approvalState, planFacts, planState } from "../text/labels.ts";
import { oneLine } from "../text/escape.ts";
import { settings } from "../settings.ts";

interface Known {
  readonly approvals: Map<string, Approval>;
  readonly plans: Map<string, Plan>;
}

export class Waiting implements vscode.Disposable {
  readonly #folders: Folders;
  readonly #known = new Map<Folder, Known>();
  readonly #changed = new vscode.EventEmitter<Folder>();
  readonly #subscription: vscode.Disposable;
  readonly onDidChange = this.#changed.event;
  /** Whether a conversation on screen shows what this session asks; then no toast does. */
  isShown: (folder: Folder, sessionId: string) => boolean = () => false;

  constructor(folders: Folders) {
    this.#folders = folders;
    const added = folders.onDidAdd((folder) => {
      folder.on("redline/approval/changed", ({ approvals }) => {
        const known = this.#of(folder).approvals;
        const fresh = approvals.filter((each) => each.state === "pending" && !known.has(each.id));
        this.#takeApprovals(folder, approvals);
        for (const approval of fresh) {
          void this.#tellApproval(folder, approval);
        }
      });
      folder.on("redline/plan/changed", ({ plans }) => {
        const known = this.#of(folder).plans;
        const fresh = plans.filter((each) => each.state === "proposed" && !known.has(each.id));
        this.#takePlans(folder, plans);
        for (const plan of fresh) {
          void this.#tellPlan(folder, plan);
        }
      });
    });
    this.#subscription = vscode.Disposable.from(
      added,
      folders.onDidRenew((folder) => void attempt(() => this.reload(folder))),
    );
  }

  #of(folder: Folder): Known {
    const known = this.#known.get(folder) ?? { approvals: new Map<string, Approval>(), plans: new Map<string, Plan>() };
    this.#known.set(folder, known);
    return known;
  }

  #takeApprovals(folder: Folder, approvals: readonly Approval[]): void {
    for (const approval of approvals) {
      this.#of(folder).approvals.set(approval.id, approval);
    }
    this.#changed.fire(folder);
  }

  #takePlans(folder: Folder, plans: readonly Plan[]): void {
    for (const plan of plans) {
      this.#of(folder).plans.set(plan.id, plan);
    }
    this.#changed.fire(folder);
  }

  async reload(folder: Folder): Promise<void> {
    this.#known.delete(folder);
    if (folder.isRunning) {
      const { approvals } = await folder.request("redline/approval/list", { settled: true });
      const { plans } = await folder.request("redline/plan/list", { settled: false });
      this.#takeApprovals(folder, approvals);
      this.#takePlans(folder, plans);
    }
    this.#changed.fire(folder);
  }

  approval(folder: Folder, id: string): Approval | undefined {
    return this.#known.get(folder)?.approvals.get(id);
  }

  plan(folder: Folder, id: string): Plan | undefined {
    return this.#known.get(folder)?.plans.get(id);
  }

  approvals(folder: Folder): Approval[] {
    const all = [...(this.#known.get(folder)?.approvals.values() ?? [])];
    return all.filter((each) => each.state === "pending").sort((a, b) => a.createdAt - b.createdAt);
  }

  plans(folder: Folder): Plan[] {
    const all = [...(this.#known.get(folder)?.plans.values() ?? [])];
    return all.filter((each) => each.state === "proposed").sort((a, b) => a.createdAt - b.createdAt);
  }

  count(folder: Folder): number {
    return this.approvals(folder).length + this.plans(folder).length;
  }

  /** A toast, where no conversation shows it. Closing it is no decision. */
  async #tellApproval(folder: Folder, approval: Approval): Promise<void> {
    if (!settings(folder.workspace.uri).notifyApprovals || this.isShown(folder, approval.sessionId)) {
      return;
    }
    const facts = approvalFacts(approval).map(([name, value]) => `${name} ${value}`);
    const text = `Redline waits for your approval: ${facts.join(" · ")}`;
    const chosen = await vscode.window.showWarningMessage(text, "Approve once", "Deny", "Open conversation");
    if (chosen === "Approve once") {
      await this.decideApproval(folder, approval.id, "approve");
    } else if (chosen === "Deny") {
      await this.decideApproval(folder, approval.id, "deny");
    } else if (chosen) {
      await vscode.commands.executeCommand("redline.openConversation", { folder, sessionId: approval.sessionId });
    }
  }

  async #tellPlan(folder: Folder, plan: Plan): Promise<void> {
    if (!settings(folder.workspace.uri).notifyApprovals || this.isShown(folder, plan.sessionId)) {
      return;
    }
    const chosen = await vscode.window.showWarningMessage(`Redline: a plan waits for your decision: ${oneLine(plan.title)}`, "Read it");
    if (chosen) {
      await vscode.commands.executeCommand("redline.openPlan", { folder, item: plan });
    }
  }

  async decideApproval(folder: Folder, approvalId: string, decision: ApprovalDecision, reason?: string): Promise<void> {
    try {
      const approval = await folder.request("redline/approval/decide", { approvalId, decision, reason: reason ?? null });
      this.#takeApprovals(folder, [approval]);
      say(`${approvalState(approval)}: ${oneLine(approval.summary)}`);
    } catch (error) {
      await this.#settled(folder, failureOf(error));
    }
  }

  async decidePlan(folder: Folder, plan: Plan, decision: PlanDecision, reason?: string): Promise<void> {
    const params = { planId: plan.id, revision: plan.revision, decision, reason: reason ?? null };
    try {
      const decided = await folder.request("redline/plan/decide", params);
      this.#takePlans(folder, [decided]);
      say(`plan ${planState(decided)}: ${oneLine(decided.title)}`);
    } catch (error) {
      await this.#settled(folder, failureOf(error));
    }
  }

  /** Somebody else was faster: what they decided is shown, and said. */
  async #settled(folder: Folder, failure: Failure): Promise<void> {
    await this.reload(folder);
    throw failure;
  }

  /** Asks why not; undefined when the user changed their mind. */
  async askReason(what: "deny" | "reject"): Promise<string | undefined> {
    return vscode.window.showInputBox({ title: `Redline: ${what} because…`, prompt: "The model is told", ignoreFocusOut: true });
  }

  /** The approval that a command means: the one named, the only one that waits, or one that is picked. */
  async pickApproval(): Promise<{ folder: Folder; approval: Approval }> {
    const all = this.#folders.all().flatMap((folder) => this.approvals(folder).map((approval) => ({ folder, approval })));
    const chosen =
      all.length <= 1
        ? all[0]
        : await vscode.window.showQuickPick(
            all.map((each) => ({
              ...each,
              label: oneLine(each.approval.summary),
              detail: approvalFacts(each.approval).map(([name, value]) => `${name} ${value}`).join(" · "),
            })),
            { title: "Redline: which approval?" },
          );
    if (!chosen) {
      throw new Failure("NOT_FOUND", "no approval was chosen, or none waits");
    }
    return chosen;
  }

  /** A plan as a document. */
  text(id: string): string | undefined {
    for (const folder of this.#folders.all()) {
      const plan = this.plan(folder, id);
      if (plan) {
        const facts = planFacts(plan).map(([name, value]) => `- ${name} \`${value.replace(/`/g, "'")}\``);
        const head = [`# ${oneLine(plan.title)}`, "", `*${planState(plan)}*`, ""];
        return [...head, plan.text.trimEnd(), "", "## What it lets through", "", ...facts, ""].join("\n");
      }
    }
    return undefined;
  }

  dispose(): void {
    this.#subscription.dispose();
    this.#changed.dispose();
  }
}

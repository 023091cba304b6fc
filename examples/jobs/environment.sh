# Sourced by the job scripts, on the first node of the job: which Python, how the processes of all nodes find each other,
# and which network they use. It sets the arrays `launch` (what srun starts on every node) and `auto_resume`.
# PYTHON is the interpreter that has torch, the same path on every node: a virtual environment on /fsx, say.
# shellcheck shell=bash disable=SC2034 # what is set here is used by the scripts that source it

python=${PYTHON:-python3}
"$python" -c 'import torch' || { echo "$python has no torch: set PYTHON to one that has, see the README" >&2; exit 1; }

# One process per GPU; one per node where there is none.
gpus=$(find /dev -maxdepth 1 -name 'nvidia[0-9]*' | wc -l)
processes=${SLURM_GPUS_ON_NODE:-$((gpus > 0 ? gpus : 1))}

# The first node is where all meet. The port comes from the job's number, so that two jobs on one node do not meet each other.
first_node=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
meeting=(--rdzv-backend=c10d --rdzv-endpoint="$first_node:$((20000 + SLURM_JOB_ID % 20000))")

# Some builds of torch (Debian's) lack libuv, which torchrun's own store insists on. They meet through a file instead, which
# all nodes see because this folder is on /fsx; the training itself then still goes through the network.
if ! "$python" -c 'import torch.distributed as d; d.TCPStore("localhost", 0, is_master=True, wait_for_workers=False)' 2>/dev/null; then
    export USE_LIBUV=0 TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1
    meeting_file=$PWD/.meeting-$SLURM_JOB_ID-${SLURM_RESTART_COUNT:-0}
    trap 'rm -f "$meeting_file"' EXIT
    meeting=(--rdzv-backend=c10d --rdzv-conf=store_type=file --rdzv-endpoint="$meeting_file")
fi

# EFA, where the node has it. Everything else that NCCL needs to use it is in the AMI.
if compgen -G '/sys/class/infiniband/*' >/dev/null; then
    export FI_PROVIDER=efa FI_EFA_FORK_SAFE=1 NCCL_SOCKET_IFNAME='^lo,docker,veth'
fi
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-1} PYTHONUNBUFFERED=1

launch=("$python" -m torch.distributed.run --nnodes="$SLURM_JOB_NUM_NODES" --nproc-per-node="$processes"
    --rdzv-id="$SLURM_JOB_ID-${SLURM_RESTART_COUNT:-0}" "${meeting[@]}")

# HyperPod's Slurm plugin replaces a broken node and starts the step again. Without that plugin srun does not know the option.
auto_resume=()
if srun --help 2>&1 | grep -q -- --auto-resume; then auto_resume=(--auto-resume=1); fi
# Not silently: a reader of the job's output sees what was found.
echo "$SLURM_JOB_NUM_NODES nodes with $processes process(es) each, first $first_node, ${auto_resume[0]:-no HyperPod auto-resume}"
